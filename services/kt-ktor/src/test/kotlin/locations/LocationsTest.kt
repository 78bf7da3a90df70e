package locations

import io.ktor.client.request.get
import io.ktor.client.statement.bodyAsText
import io.ktor.http.HttpStatusCode
import io.ktor.server.response.respond
import io.ktor.server.routing.get
import io.ktor.server.routing.routing
import io.ktor.server.testing.testApplication
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.async
import kotlinx.coroutines.coroutineScope
import java.net.URI
import kotlin.test.Test
import kotlin.test.assertContains
import kotlin.test.assertEquals
import kotlin.test.assertFalse
import kotlin.test.assertTrue
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds

class LocationsTest {
    private val draining = Draining()
    private val nobody = Elasticsearch(URI("http://127.0.0.1:1")) // nothing listens there

    @Test
    fun `what is wrong is told, all of it, by name`() = testApplication {
        application { locations(Cities(nobody), draining, accessLog = false) }
        suspend fun assertAnswers(uri: String, status: HttpStatusCode, vararg parameters: String) {
            val response = client.get(uri)
            assertEquals(status, response.status, uri)
            parameters.forEach { assertContains(response.bodyAsText(), "$it:") }
        }
        assertAnswers("/city/v1/get?id=x", HttpStatusCode.BadRequest, "id", "language")
        assertAnswers("/city/v1/get?id=5&language=cs", HttpStatusCode.BadGateway, "store")
        assertAnswers("/city/v1/closest?lat=1&language=cs", HttpStatusCode.BadRequest, "lon")
        assertAnswers("/city/v1/closest?lat=NaN&lon=181&language=cs", HttpStatusCode.BadRequest, "lat", "lon")
        assertAnswers("/city/v1/search?query=%20&language=CS&countryIso=x", HttpStatusCode.BadRequest, "query", "language", "countryIso")
        assertAnswers("/v1/benchmark?delay=10001", HttpStatusCode.BadRequest, "delay")
        assertAnswers("/nothing", HttpStatusCode.NotFound, "path")
    }

    @Test
    fun `a drain waits for calls in flight and turns away others`() = testApplication {
        val (begun, end) = CompletableDeferred<Unit>() to CompletableDeferred<Unit>()
        application {
            draining.install(this)
            routing {
                get("/") {
                    begun.complete(Unit)
                    end.await()
                    call.respond(HttpStatusCode.OK)
                }
            }
        }
        startApplication()
        coroutineScope {
            val inFlight = async { client.get("/") }
            begun.await()
            assertFalse(draining.await(Duration.ZERO))
            assertEquals(HttpStatusCode.ServiceUnavailable, client.get("/").status)
            end.complete(Unit)
            assertEquals(HttpStatusCode.OK, inFlight.await().status)
        }
        assertTrue(draining.await(10.seconds))
    }
}
