package locations

import io.ktor.http.HttpStatusCode
import io.ktor.http.Parameters
import io.ktor.server.application.ApplicationCall
import kotlin.math.abs

private const val MAX_TEXT = 200
private const val MAX_DELAY_MS = 10_000L // well within the time that a stop leaves to it

/** Reads the parameters of one request; throws a [Problem] that tells all that are wrong. */
fun <T> ApplicationCall.query(read: Query.() -> T): T {
    val query = Query(request.queryParameters)
    val value = query.read()
    if (query.problems.isNotEmpty()) throw Problem(HttpStatusCode.BadRequest, query.problems.joinToString("; "))
    return value
}

/** Collects what is wrong with the parameters; what is wrong has a value that nobody will use. */
class Query(private val parameters: Parameters) {
    val problems = mutableListOf<String>()

    fun id(): Long = required("id", "a whole number", 0) { it.toLongOrNull() }

    fun language(): Language = required("language", "one of ${Language.entries.joinToString()}", Language.en) { code ->
        Language.entries.find { it.name == code }
    }

    fun text(): String = required("query", "1 to $MAX_TEXT characters", "") { text -> text.takeIf { it.isNotBlank() && it.length <= MAX_TEXT } }

    fun countryIso(): String? = parameters["countryIso"]?.let { code ->
        parsed("countryIso", "a country code of two letters", code, "") { it.uppercase().takeIf(Regex("[A-Z]{2}")::matches) }
    }

    fun delayMillis(): Long = parameters["delay"]?.let { delay ->
        parsed("delay", "milliseconds from 0 to $MAX_DELAY_MS", delay, 0) { it.toLongOrNull()?.takeIf { ms -> ms in 0..MAX_DELAY_MS } }
    } ?: 0

    fun point(): Point? {
        if ("lat" !in parameters && "lon" !in parameters) return null
        return Point(degrees("lat", 90), degrees("lon", 180))
    }

    private fun degrees(name: String, limit: Int): Double = required(name, "degrees from -$limit to $limit", 0.0) { it.toDegrees(limit) }

    private fun <T : Any> required(name: String, want: String, otherwise: T, parse: (String) -> T?): T {
        val text = parameters[name]
        if (text.isNullOrEmpty()) {
            problems += "$name: missing; want $want"
            return otherwise
        }
        return parsed(name, want, text, otherwise, parse)
    }

    private fun <T : Any> parsed(name: String, want: String, text: String, otherwise: T, parse: (String) -> T?): T =
        parse(text) ?: otherwise.also { problems += "$name: not valid; want $want" }
}

/** Null for what is no number or out of bounds. */
fun String.toDegrees(limit: Int): Double? = toDoubleOrNull()?.takeIf { abs(it) <= limit }
