package locations

import io.vertx.core.MultiMap
import io.vertx.ext.web.RoutingContext
import io.vertx.ext.web.handler.HttpException

private const val MAX_DELAY_MS = 10_000L // well within the time that a stop leaves to it

/** Reads the parameters of one request; throws a 400 that tells all that are wrong. */
fun <T> RoutingContext.params(read: Params.() -> T): T = Params(queryParams()).read(read)

/** Collects what is wrong with the parameters; what is wrong has a value that nobody will use. */
class Params(private val given: MultiMap) {
    private val problems = mutableListOf<String>()

    fun <T> read(read: Params.() -> T): T {
        val value = read()
        if (problems.isNotEmpty()) throw HttpException(400, problems.joinToString("; "))
        return value
    }

    fun id(): Long = required("id", "a whole number", 0) { it.toLongOrNull() }

    fun language(): Language = required("language", "one of ${Language.entries.joinToString()}", Language.en) { code ->
        Language.entries.find { it.name == code }
    }

    /** The delay, which may be left out. */
    fun delayMillis(): Long = given["delay"]?.let { delay: String ->
        parsed("delay", "milliseconds from 0 to $MAX_DELAY_MS", delay, 0) { it.toLongOrNull()?.takeIf { ms -> ms in 0..MAX_DELAY_MS } }
    } ?: 0

    private fun <T : Any> required(name: String, want: String, otherwise: T, parse: (String) -> T?): T {
        val text: String? = given[name]
        if (text.isNullOrEmpty()) {
            problems += "$name: missing; want $want"
            return otherwise
        }
        return parsed(name, want, text, otherwise, parse)
    }

    private fun <T : Any> parsed(name: String, want: String, text: String, otherwise: T, parse: (String) -> T?): T =
        parse(text) ?: otherwise.also { problems += "$name: not valid; want $want" }
}
