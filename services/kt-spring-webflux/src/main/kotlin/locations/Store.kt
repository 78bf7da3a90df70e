package locations

import java.net.HttpURLConnection
import java.net.URI
import java.net.URISyntaxException
import java.util.Base64
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionException
import java.util.concurrent.TimeUnit

private const val START_WITHIN = 10_000 // ms

/** Where Elasticsearch is. Messages never repeat [url]: it may hold a password. */
class Store(url: String?) {
    private val uri: URI

    init {
        require(!url.isNullOrEmpty()) { "ELASTICSEARCH_URL is not set: want the URL of Elasticsearch, for example http://localhost:9200" }
        val parsed = try { URI(url) } catch (_: URISyntaxException) { null }
        require(parsed?.host != null && parsed.scheme in setOf("http", "https")) { "ELASTICSEARCH_URL is malformed: want a URL such as http://localhost:9200" }
        uri = parsed
    }

    private val name = uri.host + if (uri.port < 0) "" else ":${uri.port}"

    /** The URL to put paths behind, without user and password. */
    val base = "${uri.scheme}://$name${uri.rawPath.trimEnd('/')}"

    /** The value of the header for the user and password in the URL, if they are there. */
    val authorization = uri.userInfo?.let { "Basic " + Base64.getEncoder().encodeToString(it.toByteArray()) }

    /** Makes one round trip; in a thread of its own, since resolving a name cannot be given a time-out. */
    fun reach() {
        try {
            CompletableFuture.runAsync(::ask).orTimeout(START_WITHIN.toLong(), TimeUnit.MILLISECONDS).join()
        } catch (e: CompletionException) {
            throw IllegalStateException("cannot reach Elasticsearch at $name: ${e.cause}")
        }
    }

    private fun ask() {
        val connection = URI(base).toURL().openConnection() as HttpURLConnection
        connection.connectTimeout = START_WITHIN
        connection.readTimeout = START_WITHIN
        authorization?.let { connection.setRequestProperty("Authorization", it) }
        check(connection.responseCode == HttpURLConnection.HTTP_OK) { "it answers ${connection.responseCode}" }
        connection.disconnect()
    }
}
