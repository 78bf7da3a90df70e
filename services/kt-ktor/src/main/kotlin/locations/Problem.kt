package locations

import io.ktor.http.HttpStatusCode
import io.ktor.http.URLDecodeException
import io.ktor.server.application.ApplicationCall
import io.ktor.server.plugins.BadRequestException
import io.ktor.server.plugins.statuspages.StatusPagesConfig
import io.ktor.server.request.path
import io.ktor.server.response.respond
import kotlinx.coroutines.CancellationException
import kotlinx.serialization.Serializable
import org.slf4j.LoggerFactory

/** An answer other than 200. Its message names the parameter at fault. No stack trace: it is an answer, not a fault. */
class Problem(val status: HttpStatusCode, override val message: String) : RuntimeException(message, null, false, false)

@Serializable
private data class ProblemResponse(val message: String)

private val log = LoggerFactory.getLogger("locations")

/** Whatever goes wrong becomes JSON with a message; what only the operator should know is logged. */
fun StatusPagesConfig.problems() {
    exception<Problem> { call, problem -> call.answer(problem) }
    exception<URLDecodeException> { call, _ -> call.answer(malformed) }
    exception<BadRequestException> { call, _ -> call.answer(malformed) } // the same of routing, and of the engine Netty
    exception<Throwable> { call, cause ->
        if (cause is CancellationException) throw cause
        log.error("{}: {}", call.request.path(), cause.toString())
        call.answer(Problem(HttpStatusCode.BadGateway, "store: Elasticsearch did not answer as it should"))
    }
}

private val malformed = Problem(HttpStatusCode.BadRequest, "path or query string: not escaped as a URL wants it")

private suspend fun ApplicationCall.answer(problem: Problem) = respond(problem.status, ProblemResponse(problem.message))
