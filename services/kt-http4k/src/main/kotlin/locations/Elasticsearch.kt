package locations

import org.apache.hc.client5.http.config.ConnectionConfig
import org.apache.hc.client5.http.config.RequestConfig
import org.apache.hc.client5.http.impl.classic.HttpClients
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder
import org.apache.hc.core5.util.Timeout
import org.http4k.client.ApacheClient
import org.http4k.core.Body
import org.http4k.core.ContentType
import org.http4k.core.Credentials
import org.http4k.core.HttpHandler
import org.http4k.core.Method.GET
import org.http4k.core.Method.POST
import org.http4k.core.Request
import org.http4k.core.Response
import org.http4k.core.Status
import org.http4k.core.Uri
import org.http4k.core.then
import org.http4k.core.with
import org.http4k.filter.ClientFilters
import org.http4k.format.Jackson.auto
import org.http4k.lens.Header.CONTENT_TYPE
import java.net.URI

/** What Elasticsearch answered was not what was asked for. */
class ElasticsearchException(message: String) : RuntimeException(message)

/** Asks Elasticsearch through any [HttpHandler]; a missing document is null. */
class Elasticsearch(private val http: HttpHandler) {
    fun ping() {
        Request(GET, "/").let { it.answer(http(it), Status.OK) }
    }

    fun city(id: Long): City? = source("city", id)?.let(cityLens)

    fun region(id: Long): Region? = source("region", id)?.let(regionLens)

    /** The cities that a query finds, in its order. */
    fun cities(query: Map<String, Any>): List<City> {
        val request = Request(POST, "/city/_search?$SOURCE").with(CONTENT_TYPE of ContentType.APPLICATION_JSON, queryLens of query)
        return foundLens(request.answer(http(request), Status.OK)).hits.hits.map { it._source }
    }

    private fun source(index: String, id: Long): Response? {
        val request = Request(GET, "/$index/_source/$id?$SOURCE")
        return request.answer(http(request), Status.OK, Status.NOT_FOUND).takeIf { it.status == Status.OK }
    }

    private fun Request.answer(response: Response, vararg expected: Status): Response {
        if (response.status !in expected) throw ElasticsearchException("$method $uri: ${response.status} ${response.bodyString().take(300)}".trim())
        return response
    }

    private data class Found(val hits: Hits)
    private data class Hits(val hits: List<Hit>)
    private data class Hit(val _source: City)

    companion object {
        private const val SOURCE = "_source_excludes=geometry,population"
        private val cityLens = Body.auto<City>().toLens()
        private val regionLens = Body.auto<Region>().toLens()
        private val foundLens = Body.auto<Found>().toLens()
        private val queryLens = Body.auto<Map<String, Any>>().toLens()

        /** More connections than any engine has threads for requests, so that none waits for another's answer. */
        private const val MAX_CONNECTIONS = 2048

        fun at(url: URI): Elasticsearch {
            val connections = PoolingHttpClientConnectionManagerBuilder.create()
                .setMaxConnPerRoute(MAX_CONNECTIONS)
                .setMaxConnTotal(MAX_CONNECTIONS)
                .setDefaultConnectionConfig(ConnectionConfig.custom().setConnectTimeout(Timeout.ofSeconds(5)).setSocketTimeout(Timeout.ofSeconds(10)).build())
                .build()
            val client = HttpClients.custom()
                .setConnectionManager(connections)
                .setDefaultRequestConfig(RequestConfig.custom().setResponseTimeout(Timeout.ofSeconds(10)).setProtocolUpgradeEnabled(false).build())
                .disableContentCompression()
                .disableCookieManagement()
                .build()
            val base = ClientFilters.SetBaseUriFrom(Uri.of(url.toString()).userInfo("").path(url.path.orEmpty().trimEnd('/')).query("").fragment(""))
            val (user, password) = url.userInfo?.split(':', limit = 2).orEmpty().let { it.getOrNull(0) to it.getOrNull(1).orEmpty() }
            val http = base.then(ApacheClient(client))
            return Elasticsearch(if (user == null) http else ClientFilters.BasicAuth(Credentials(user, password)).then(http))
        }
    }
}
