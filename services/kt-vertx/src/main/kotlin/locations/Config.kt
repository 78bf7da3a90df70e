package locations

import java.net.URI
import java.net.URISyntaxException

/** What the service reads of its environment. */
data class Config(val port: Int, val elasticsearch: URI, val accessLog: Boolean) {
    /** Host and port of the store, for messages. */
    val store get() = "${elasticsearch.host}:${elasticsearch.port}"

    companion object {
        /** Throws [IllegalArgumentException] with a message for the operator. */
        fun from(env: Map<String, String>) = Config(
            port = env["PORT"].orEmpty().ifEmpty { "8080" }.let {
                requireNotNull(it.toIntOrNull()?.takeIf { port -> port in 1..65535 }) { "PORT is \"$it\": want a number from 1 to 65535" }
            },
            elasticsearch = elasticsearch(env["ELASTICSEARCH_URL"].orEmpty()),
            accessLog = env["ACCESS_LOG"] != "off",
        )

        private fun elasticsearch(url: String): URI {
            require(url.isNotEmpty()) { "ELASTICSEARCH_URL is not set: want the URL of Elasticsearch, for example http://localhost:9200" }
            val uri = try { URI(url) } catch (_: URISyntaxException) { null }
            // The value is not repeated: it may hold a password.
            require(uri != null && uri.scheme in setOf("http", "https") && !uri.host.isNullOrEmpty()) {
                "ELASTICSEARCH_URL is malformed: want a URL such as http://localhost:9200"
            }
            val port = if (uri.port >= 0) uri.port else if (uri.scheme == "https") 443 else 80
            return URI(uri.scheme, uri.userInfo, uri.host, port, uri.path, null, null)
        }
    }
}
