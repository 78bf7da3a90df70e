package locations

import io.vertx.core.Vertx
import io.vertx.core.buffer.Buffer
import io.vertx.core.http.PoolOptions
import io.vertx.core.json.JsonObject
import io.vertx.ext.auth.authentication.UsernamePasswordCredentials
import io.vertx.ext.web.client.HttpResponse
import io.vertx.ext.web.client.WebClient
import io.vertx.ext.web.client.WebClientOptions
import io.vertx.kotlin.coroutines.coAwait
import kotlinx.coroutines.CancellationException
import java.net.URI
import java.util.concurrent.ConcurrentMap

private const val MAX_CONNECTIONS = 256 // of one event loop
private const val TIMEOUT_MS = 10_000L

/** Elasticsearch did not answer, or not what was asked for. */
class StoreException(message: String?, cause: Throwable? = null) : RuntimeException(message, cause)

/** Cities out of Elasticsearch. Regions, of which there are tens, are kept for ever and shared by all event loops; cities are not. */
class Cities(vertx: Vertx, url: URI, private val regions: ConcurrentMap<Long, Names>) {
    private val client = WebClient.create(
        vertx,
        WebClientOptions().setDefaultHost(url.host).setDefaultPort(url.port).setSsl(url.scheme == "https").setConnectTimeout(5_000),
        PoolOptions().setHttp1MaxSize(MAX_CONNECTIONS),
    )
    private val path = url.path.orEmpty().trimEnd('/')
    private val user = url.userInfo?.split(':', limit = 2)?.let { UsernamePasswordCredentials(it[0], it.getOrElse(1) { "" }) }

    /** Makes one round trip. */
    suspend fun ping() {
        ask("/").orThrow()
    }

    /** The city in the language of the request, if there is one; throws [StoreException]. */
    suspend fun get(id: Long, language: Language): JsonObject? {
        val city = source("city", id) ?: return null
        return JsonObject.of(
            "countryIso", city.getString("countryIso"),
            "id", city.getLong("id"),
            "isFeatured", city.getBoolean("isFeatured"),
            "name", city.getString("name.$language"),
            "regionName", region(city.getLong("regionId"))[language],
        )
    }

    private suspend fun region(id: Long): Names = regions.getOrPut(id) {
        Names(source("region", id) ?: throw StoreException("there is no region $id"))
    }

    /** A document without what the service never needs, of which geometry is the most; null if there is none. */
    private suspend fun source(index: String, id: Long): JsonObject? {
        val response = ask("/$index/_source/$id?_source_excludes=geometry,population")
        return if (response.statusCode() == 404) null else response.orThrow().bodyAsJsonObject()
    }

    private suspend fun ask(uri: String): HttpResponse<Buffer> = try {
        client.get(path + uri).timeout(TIMEOUT_MS).apply { if (user != null) authentication(user) }.send().coAwait()
    } catch (e: CancellationException) {
        throw e
    } catch (e: Exception) {
        throw StoreException(e.message, e)
    }

    private fun HttpResponse<Buffer>.orThrow(): HttpResponse<Buffer> =
        if (statusCode() == 200) this else throw StoreException("Elasticsearch answered ${statusCode()} ${statusMessage()}")
}
