package locations

import org.http4k.core.Body
import org.http4k.core.HttpHandler
import org.http4k.core.Request
import org.http4k.core.Response
import org.http4k.core.Status
import org.http4k.core.with
import org.http4k.format.Jackson.auto
import org.http4k.lens.BiDiBodyLens
import org.http4k.lens.Header
import org.http4k.lens.Lens
import org.http4k.lens.LensFailure
import org.http4k.lens.Missing
import org.http4k.lens.Query
import org.http4k.lens.double
import org.http4k.lens.enum
import org.http4k.lens.long
import org.http4k.lens.nonBlankString
import kotlin.math.abs

val oneCity = Body.auto<CityResponse>().toLens()
val manyCities = Body.auto<MultiCityResponse>().toLens()
val problem = Body.auto<Problem>().toLens()

fun problem(status: Status, message: String) = Response(status).with(problem of Problem(message))

private const val MAX_DELAY_MS = 10_000L // well within the time that a stop leaves to it

private val id = Query.long().required("id", "Id of a city")
private val language = Query.enum<Language>().required("language", "Language of the names in the answer")
private val lat = Query.double().map(degrees(90.0)).optional("lat", "Latitude in degrees, only together with lon")
private val lon = Query.double().map(degrees(180.0)).optional("lon", "Longitude in degrees, only together with lat")
private val fastlyLat = Header.optional("Fastly-Geo-Lat", "Latitude of the client")
private val fastlyLon = Header.optional("Fastly-Geo-Lon", "Longitude of the client")
private val query = Query.nonBlankString().map { it.also { require(it.length <= 200) } }.required("query", "What a name begins with")
private val countryIso = Query.map { it.uppercase().also { require(it.matches(Regex("[A-Z]{2}"))) } }.optional("countryIso", "Only cities of this country")
private val delay = Query.long().map { it.also { require(it in 0..MAX_DELAY_MS) } }.defaulted("delay", 0, "Milliseconds")

private fun degrees(limit: Double): (Double) -> Double = { it.also { require(abs(it) <= limit) } }

/** One endpoint, however it is routed: what it takes, what it gives, and the function that does it. */
class Endpoint<T : Any>(
    val path: String,
    val summary: String,
    val parameters: List<Lens<Request, *>>,
    val example: Pair<BiDiBodyLens<T>, T>?,
    val missing: Boolean = false, // it may answer 404
    val handler: HttpHandler,
)

private val exampleCity = CityResponse("CZ", 3078610, true, "Brno", "Jihomoravský kraj")
private val exampleOne = oneCity to exampleCity
private val exampleMany = manyCities to MultiCityResponse(listOf(exampleCity))

fun endpoints(cities: Cities): List<Endpoint<*>> = listOf(
    Endpoint("/city/v1/get", "A city by its id", listOf(id, language), exampleOne, missing = true) { request ->
        val (id, language) = id(request) to language(request)
        cities.byId(id)?.let { cities.one(it, language) } ?: noCity(id)
    },
    Endpoint("/city/v1/associatedFeatured", "The city if it is featured, else the nearest featured one", listOf(id, language), exampleOne, missing = true) { request ->
        val (id, language) = id(request) to language(request)
        cities.associatedFeatured(id)?.let { cities.one(it, language) } ?: noCity(id)
    },
    Endpoint("/city/v1/closest", "The city around a point, else the nearest one", listOf(lat, lon, fastlyLat, fastlyLon, language), exampleOne, missing = true) { request ->
        val language = language(request)
        val city = point(request)?.let { cities.at(it, featured = false) }
            ?: fastlyPoint(request)?.let { cities.at(it, featured = true) }
            ?: cities.home(language)
        city?.let { cities.one(it, language) } ?: problem(Status.NOT_FOUND, "lat, lon: no city is near")
    },
    Endpoint("/city/v1/search", "At most 10 cities by the beginning of their names, best first", listOf(query, countryIso, language), exampleMany) { request ->
        val language = language(request)
        cities.many(cities.search(query(request), language, countryIso(request)), language)
    },
    Endpoint("/city/v1/featured", "All featured cities, those of the language's home country first", listOf(language), exampleMany) { request ->
        val language = language(request)
        cities.many(cities.featured(language), language)
    },
    // An http4k handler answers by returning, so a delay holds the thread of its request; on virtual threads that costs little.
    Endpoint<Unit>("/v1/benchmark", "An empty answer after a delay", listOf(delay), null) { request ->
        Thread.sleep(delay(request))
        Response(Status.OK)
    },
)

private fun point(request: Request): Point? {
    val (lat, lon) = lat(request) to lon(request)
    return when {
        lat == null && lon == null -> null
        lat == null -> throw LensFailure(Missing(locations.lat.meta))
        lon == null -> throw LensFailure(Missing(locations.lon.meta))
        else -> Point(lat, lon)
    }
}

/** Where the CDN sees the client. What makes no sense is as good as unknown: the headers are none of the client's doing. */
private fun fastlyPoint(request: Request): Point? {
    val lat = fastlyLat(request)?.toDoubleOrNull()?.takeIf { abs(it) <= 90 } ?: return null
    val lon = fastlyLon(request)?.toDoubleOrNull()?.takeIf { abs(it) <= 180 } ?: return null
    return Point(lat, lon).takeIf { lat != 0.0 || lon != 0.0 }
}

private fun noCity(id: Long) = problem(Status.NOT_FOUND, "id: there is no city $id")

private fun Cities.one(city: City, language: Language) = Response(Status.OK).with(oneCity of answer(city, language))

private fun Cities.many(found: List<City>, language: Language) =
    Response(Status.OK).with(manyCities of MultiCityResponse(found.map { answer(it, language) }))
