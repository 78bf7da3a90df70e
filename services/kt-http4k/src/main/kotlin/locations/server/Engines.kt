package locations.server

import org.http4k.core.Method
import org.http4k.core.Request
import org.http4k.core.Uri
import org.http4k.server.Jetty
import org.http4k.server.ServerConfig
import org.http4k.server.ServerConfig.StopMode
import org.http4k.server.SunHttp
import java.time.Duration
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors

/** How long a server may take to stop once no request is in flight any more. */
val stopMode = StopMode.Graceful(Duration.ofSeconds(1))

/** The server of that name. http4k's own modules for the first four stop at older versions of it, hence the adapters here. */
fun engine(name: String, port: Int): ServerConfig = when (name) {
    "undertow" -> Undertow(port)
    "undertow-virtual" -> Undertow(port, Executors.newVirtualThreadPerTaskExecutor())
    "netty" -> Netty(port)
    "apache5" -> Apache5(port)
    "apache4" -> Apache4(port)
    "jetty" -> Jetty(port, stopMode)
    "sunhttp" -> SunHttp(port, stopMode)
    else -> throw IllegalArgumentException(
        "SERVER_ENGINE is \"$name\": want undertow, undertow-virtual, netty, jetty, apache5, apache4 or sunhttp",
    )
}

/** A request as the adapters here make it. The API has no request with a body, so none is read; null: an unknown method. */
fun request(method: String, uri: String, headers: List<Pair<String, String?>>): Request? =
    Method.entries.find { it.name == method }?.let { Request(it, Uri.of(uri)).headers(headers) }

/** Threads for handlers, which block: as many as Undertow has. They follow the CPU limit of the container. */
fun handlerThreads(): ExecutorService = Executors.newFixedThreadPool(8 * Runtime.getRuntime().availableProcessors())
