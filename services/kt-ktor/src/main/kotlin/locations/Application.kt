package locations

import io.ktor.http.ContentType
import io.ktor.http.HttpStatusCode
import io.ktor.serialization.kotlinx.json.json
import io.ktor.server.application.Application
import io.ktor.server.application.install
import io.ktor.server.plugins.calllogging.CallLogging
import io.ktor.server.plugins.calllogging.processingTimeMillis
import io.ktor.server.plugins.contentnegotiation.ContentNegotiation
import io.ktor.server.plugins.statuspages.StatusPages
import io.ktor.server.request.httpMethod
import io.ktor.server.request.uri
import io.ktor.server.response.respond
import io.ktor.server.response.respondText
import io.ktor.server.routing.Route
import io.ktor.server.routing.RoutingCall
import io.ktor.server.routing.get
import io.ktor.server.routing.route
import io.ktor.server.routing.routing
import kotlinx.coroutines.delay
import org.slf4j.LoggerFactory

/** The whole service, whatever engine runs it. */
fun Application.locations(cities: Cities, draining: Draining, accessLog: Boolean) {
    if (accessLog) {
        install(CallLogging) {
            logger = LoggerFactory.getLogger("locations")
            format { "${it.request.httpMethod.value} ${it.request.uri} ${it.response.status()?.value} ${it.processingTimeMillis()}ms" }
        }
    }
    draining.install(this)
    install(ContentNegotiation) { json() }
    install(StatusPages) { problems() }
    val docs = Cities::class.java.getResource("/openapi.json")!!.readText()
    routing {
        get("/") { call.respondText("the locations service; see /api-docs\n") }
        get("/api-docs") { call.respondText(docs, ContentType.Application.Json) }
        get("/v1/benchmark") {
            delay(call.query { delayMillis() }) // suspends; no thread is held
            call.respond(HttpStatusCode.OK)
        }
        route("/city/v1") { city(cities) }
        route("{...}") { handle { throw Problem(HttpStatusCode.NotFound, "path: there is nothing here; see /api-docs") } }
    }
}

private fun Route.city(cities: Cities) {
    get("/get") {
        val (id, language) = call.query { id() to language() }
        call.respond(cities.byId(id) ?: throw noCity(id), cities, language)
    }
    get("/associatedFeatured") {
        val (id, language) = call.query { id() to language() }
        call.respond(cities.associatedFeatured(id) ?: throw noCity(id), cities, language)
    }
    get("/closest") {
        val (point, language) = call.query { point() to language() }
        val seen = call.fastlyPoint()
        val city = when {
            point != null -> cities.at(point, featured = false)
            seen != null -> cities.at(seen, featured = true)
            else -> cities.home(language)
        }
        call.respond(city ?: throw Problem(HttpStatusCode.NotFound, "lat, lon: no city is near"), cities, language)
    }
    get("/search") {
        val (text, countryIso, language) = call.query { Triple(text(), countryIso(), language()) }
        call.respond(cities.search(text, language, countryIso), cities, language)
    }
    get("/featured") {
        val language = call.query { language() }
        call.respond(cities.featured(language), cities, language)
    }
}

private suspend fun RoutingCall.respond(city: City, cities: Cities, language: Language) = respond(cities.answer(city, language))

private suspend fun RoutingCall.respond(found: List<City>, cities: Cities, language: Language) =
    respond(MultiCityResponse(found.map { cities.answer(it, language) }))

private fun noCity(id: Long) = Problem(HttpStatusCode.NotFound, "id: there is no city $id")

/** Where the CDN sees the client. What makes no sense is as good as unknown: the headers are none of the client's doing. */
private fun RoutingCall.fastlyPoint(): Point? {
    val lat = request.headers["Fastly-Geo-Lat"]?.toDegrees(90) ?: return null
    val lon = request.headers["Fastly-Geo-Lon"]?.toDegrees(180) ?: return null
    return Point(lat, lon).takeIf { lat != 0.0 || lon != 0.0 }
}
