package locations

import io.ktor.client.HttpClient
import io.ktor.client.call.body
import io.ktor.client.engine.HttpClientEngine
import io.ktor.client.engine.apache5.Apache5
import io.ktor.client.plugins.contentnegotiation.ContentNegotiation
import io.ktor.client.plugins.defaultRequest
import io.ktor.client.request.basicAuth
import io.ktor.client.request.get
import io.ktor.client.request.post
import io.ktor.client.request.setBody
import io.ktor.client.statement.HttpResponse
import io.ktor.client.statement.bodyAsText
import io.ktor.client.statement.request
import io.ktor.http.ContentType
import io.ktor.http.HttpStatusCode
import io.ktor.http.contentType
import io.ktor.serialization.kotlinx.json.json
import kotlinx.serialization.Serializable
import kotlinx.serialization.SerialName
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import java.net.URI

/** What Elasticsearch answered was not what was asked for. */
class ElasticsearchException(message: String) : RuntimeException(message)

/** Asks Elasticsearch without holding a thread; a missing document is null. */
class Elasticsearch(url: URI, engine: HttpClientEngine = defaultEngine()) {
    private val client = HttpClient(engine) {
        install(ContentNegotiation) { json(Json { ignoreUnknownKeys = true }) }
        defaultRequest {
            url(URI(url.scheme, null, url.host, url.port, url.path.orEmpty().trimEnd('/') + "/", null, null).toString())
            url.userInfo?.split(':', limit = 2)?.let { basicAuth(it[0], it.getOrElse(1) { "" }) }
        }
    }

    suspend fun ping() {
        client.get("").orThrow()
    }

    suspend fun city(id: Long): City? = source("city", id)?.body()

    suspend fun region(id: Long): Region? = source("region", id)?.body()

    /** The cities that a query finds, in its order. */
    suspend fun cities(query: JsonObject): List<City> {
        val response = client.post("city/_search?$SOURCE") {
            contentType(ContentType.Application.Json)
            setBody(query)
        }
        return response.orThrow().body<Found>().hits.hits.map { it.source }
    }

    private suspend fun source(index: String, id: Long): HttpResponse? {
        val response = client.get("$index/_source/$id?$SOURCE")
        return if (response.status == HttpStatusCode.NotFound) null else response.orThrow()
    }

    private suspend fun HttpResponse.orThrow(): HttpResponse {
        if (status != HttpStatusCode.OK) {
            throw ElasticsearchException("${request.method.value} ${request.url.encodedPath}: ${status.value} ${bodyAsText().take(300)}".trim())
        }
        return this
    }

    @Serializable
    private class Found(val hits: Hits)

    @Serializable
    private class Hits(val hits: List<Hit>)

    @Serializable
    private class Hit(@SerialName("_source") val source: City)

    private companion object {
        const val SOURCE = "_source_excludes=geometry,population"

        fun defaultEngine() = Apache5.create {
            connectTimeout = 5_000
            socketTimeout = 10_000
            connectionRequestTimeout = 10_000
        }
    }
}
