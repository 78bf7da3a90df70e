package locations

import io.ktor.http.HttpHeaders
import io.ktor.http.HttpStatusCode
import io.ktor.server.application.Application
import io.ktor.server.application.ApplicationCallPipeline
import io.ktor.server.application.call
import io.ktor.server.response.header
import io.ktor.server.response.respond
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.update
import kotlinx.coroutines.withTimeoutOrNull
import kotlin.time.Duration

/** Lets the requests in flight finish before a stop: the engines wait for their threads, not for suspended calls. */
class Draining {
    private val inFlight = MutableStateFlow(0)

    @Volatile
    private var stopping = false

    fun install(application: Application) = application.intercept(ApplicationCallPipeline.Setup) {
        if (stopping) {
            call.response.header(HttpHeaders.Connection, "close")
            call.respond(HttpStatusCode.ServiceUnavailable)
            finish()
            return@intercept
        }
        inFlight.update { it + 1 }
        try {
            proceed()
        } finally {
            inFlight.update { it - 1 }
        }
    }

    /** Turns new requests away and waits for the others; false if they took longer. */
    suspend fun await(timeout: Duration): Boolean {
        stopping = true
        return withTimeoutOrNull(timeout) { inFlight.first { it == 0 } } != null
    }
}
