package locations.server

import locations.problem
import org.http4k.core.Filter
import org.http4k.core.HttpHandler
import org.http4k.core.Status
import java.util.concurrent.Phaser
import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException

/** Lets the requests in flight finish before a stop, whatever the server does for them: not all can wait. */
class Draining : Filter {
    private val inFlight = Phaser(1) // the one is await itself

    @Volatile
    private var stopping = false

    override fun invoke(next: HttpHandler): HttpHandler = { request ->
        if (stopping) {
            problem(Status.SERVICE_UNAVAILABLE, "service: it is stopping").header("Connection", "close")
        } else {
            inFlight.register()
            try {
                next(request)
            } finally {
                inFlight.arriveAndDeregister()
            }
        }
    }

    /** Turns new requests away and waits for the others; false if they took longer. */
    fun await(seconds: Long): Boolean {
        stopping = true
        return try {
            inFlight.awaitAdvanceInterruptibly(inFlight.arrive(), seconds, TimeUnit.SECONDS)
            true
        } catch (_: TimeoutException) {
            false
        }
    }
}
