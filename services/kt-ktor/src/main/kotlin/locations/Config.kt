package locations

import java.net.URI
import java.net.URISyntaxException

/** What the service reads of its environment. */
data class Config(val port: Int, val elasticsearch: URI, val accessLog: Boolean, val engine: String) {
    companion object {
        /** Throws [IllegalArgumentException] with a message for the operator. */
        fun from(env: Map<String, String>) = Config(
            port = env["PORT"].orEmpty().ifEmpty { "8080" }.let {
                requireNotNull(it.toIntOrNull()?.takeIf { port -> port in 0..65535 }) { "PORT is \"$it\": want a number from 0 to 65535" }
            },
            elasticsearch = elasticsearch(env["ELASTICSEARCH_URL"].orEmpty()),
            accessLog = env["ACCESS_LOG"] != "off",
            engine = env["SERVER_ENGINE"].orEmpty().ifEmpty { "netty" },
        )

        private fun elasticsearch(url: String): URI {
            require(url.isNotEmpty()) { "ELASTICSEARCH_URL is not set: want the URL of Elasticsearch, for example http://localhost:9200" }
            val uri = try { URI(url) } catch (_: URISyntaxException) { null }
            // The value is not repeated: it may hold a password.
            require(uri != null && uri.scheme in setOf("http", "https") && !uri.host.isNullOrEmpty()) {
                "ELASTICSEARCH_URL is malformed: want a URL such as http://localhost:9200"
            }
            return uri
        }
    }
}
