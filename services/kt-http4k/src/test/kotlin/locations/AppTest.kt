package locations

import locations.server.Draining
import org.http4k.core.HttpHandler
import org.http4k.core.Method.GET
import org.http4k.core.Method.POST
import org.http4k.core.Request
import org.http4k.core.Response
import org.http4k.core.Status
import org.http4k.core.then
import java.util.concurrent.CountDownLatch
import kotlin.concurrent.thread
import kotlin.test.Test
import kotlin.test.assertContains
import kotlin.test.assertEquals
import kotlin.test.assertFalse
import kotlin.test.assertTrue

class AppTest {
    private val names = """"name.cs":"Město","name.de":"Stadt","name.en":"Town","name.pl":"Miasto","name.sk":"Mesto""""
    private var regionsRead = 0

    private val elasticsearch: HttpHandler = { request ->
        when (request.uri.path) {
            "/city/_source/1" -> Response(Status.OK).body("""{"id":1,"countryIso":"CZ","regionId":7,"isFeatured":true,"timezone":"x","centroid":{"lat":1,"lon":2},$names}""")
            "/region/_source/7" -> Response(Status.OK).body("{$names}").also { regionsRead++ }
            "/city/_source/5" -> Response(Status.SERVICE_UNAVAILABLE)
            "/city/_search" -> Response(Status.OK).body("""{"hits":{"hits":[]}}""")
            else -> Response(Status.NOT_FOUND)
        }
    }
    private val apps = listOf(true, false).map { app(Cities(Elasticsearch(elasticsearch)), contract = it, accessLog = false) }

    @Test
    fun `a city in the language of the request, its region read once`() = apps.forEach { app ->
        regionsRead = 0
        repeat(2) {
            val response = app(Request(GET, "/city/v1/get?id=1&language=pl&other"))
            assertEquals("""{"countryIso":"CZ","id":1,"isFeatured":true,"name":"Miasto","regionName":"Miasto"}""", response.bodyString())
        }
        assertEquals(1, regionsRead)
    }

    @Test
    fun `what is wrong is told, all of it, by name`() = apps.forEach { app ->
        fun assertAnswers(uri: String, status: Status, vararg parameters: String) {
            val response = app(Request(GET, uri))
            assertEquals(status, response.status, uri)
            parameters.forEach { assertContains(response.bodyString(), "$it:") }
        }
        assertAnswers("/city/v1/get?id=x", Status.BAD_REQUEST, "id", "language")
        assertAnswers("/city/v1/get?id=2&language=cs", Status.NOT_FOUND, "id")
        assertAnswers("/city/v1/get?id=5&language=cs", Status.BAD_GATEWAY, "store")
        assertAnswers("/city/v1/closest?lat=1&language=cs", Status.BAD_REQUEST, "lon")
        assertAnswers("/city/v1/closest?lat=NaN&lon=181&language=cs", Status.BAD_REQUEST, "lat", "lon")
        assertAnswers("/city/v1/search?query=%20&language=CS", Status.BAD_REQUEST, "query", "language")
        assertAnswers("/v1/benchmark?delay=10001", Status.BAD_REQUEST, "delay")
        assertAnswers("/nothing", Status.NOT_FOUND, "path")
        assertEquals(Status.METHOD_NOT_ALLOWED, app(Request(POST, "/city/v1/get")).status)
    }

    @Test
    fun `a drain waits for requests in flight and turns away others`() {
        val draining = Draining()
        val (begun, end) = CountDownLatch(1) to CountDownLatch(1)
        val app = draining.then { begun.countDown(); end.await(); Response(Status.OK) }
        var status: Status? = null
        val inFlight = thread { status = app(Request(GET, "/")).status }
        begun.await()
        assertFalse(draining.await(0))
        assertEquals(Status.SERVICE_UNAVAILABLE, app(Request(GET, "/")).status)
        end.countDown()
        inFlight.join()
        assertEquals(Status.OK, status)
        assertTrue(Draining().await(1))
    }
}
