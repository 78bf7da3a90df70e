package locations

import io.netty.channel.ChannelOption
import org.springframework.beans.factory.annotation.Value
import org.springframework.http.HttpHeaders
import org.springframework.http.client.reactive.ReactorClientHttpConnector
import org.springframework.stereotype.Component
import org.springframework.web.reactive.function.client.WebClient
import org.springframework.web.reactive.function.client.WebClientResponseException
import org.springframework.web.reactive.function.client.awaitBody
import reactor.netty.http.client.HttpClient
import reactor.netty.resources.ConnectionProvider
import java.time.Duration

/** Asks Elasticsearch without holding a thread; a missing document is null. */
@Component
class Elasticsearch(@Value("\${ELASTICSEARCH_URL}") url: String) {
    private val store = Store(url)
    private val client = WebClient.builder()
        .baseUrl(store.base)
        .clientConnector(ReactorClientHttpConnector(http()))
        .defaultHeaders { headers -> store.authorization?.let { headers.set(HttpHeaders.AUTHORIZATION, it) } }
        .build()

    /** Requests without a connection wait for one. By default only 1,000 may, and the others fail. */
    private fun http() = HttpClient.create(ConnectionProvider.builder("elasticsearch").maxConnections(500).pendingAcquireMaxCount(-1).build())
        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 5_000)
        .responseTimeout(Duration.ofSeconds(10))

    suspend fun city(id: Long): City? = source("city", id)

    suspend fun region(id: Long): Region? = source("region", id)

    /** A document without what the service never needs; geometry is most of it. */
    private suspend inline fun <reified T : Any> source(index: String, id: Long): T? = try {
        client.get().uri("/{index}/_source/{id}?_source_excludes=geometry,population", index, id).retrieve().awaitBody<T>()
    } catch (_: WebClientResponseException.NotFound) {
        null
    }
}
