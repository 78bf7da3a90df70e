package locations.server

import io.undertow.server.HttpHandler
import io.undertow.server.HttpServerExchange
import io.undertow.util.HttpString
import org.http4k.core.Response
import org.http4k.core.Status
import org.http4k.server.Http4kServer
import org.http4k.server.ServerConfig
import java.net.InetSocketAddress
import java.util.concurrent.Executor
import org.http4k.core.HttpHandler as Handler

/** Undertow. Handlers run on its worker threads, or on [executor]. */
class Undertow(private val port: Int, private val executor: Executor? = null) : ServerConfig {
    override val stopMode get() = locations.server.stopMode

    override fun toServer(http: Handler): Http4kServer = object : Http4kServer {
        private val server = io.undertow.Undertow.builder()
            .addHttpListener(port, "0.0.0.0") { exchange ->
                exchange.dispatch(executor ?: exchange.connection.worker, HttpHandler { it.answer(http) })
            }
            .build()

        override fun start() = apply { server.start() }
        override fun stop() = apply { server.stop() }
        override fun port() = (server.listenerInfo[0].address as InetSocketAddress).port
    }
}

private fun HttpServerExchange.answer(http: Handler) {
    val uri = if (queryString.isEmpty()) requestURI else "$requestURI?$queryString"
    val headers = requestHeaders.flatMap { values -> values.map { values.headerName.toString() to it } }
    val response = request(requestMethod.toString(), uri, headers)?.let(http) ?: Response(Status.NOT_IMPLEMENTED)
    statusCode = response.status.code
    response.headers.forEach { (name, value) -> responseHeaders.add(HttpString(name), value.orEmpty()) }
    responseSender.send(response.body.payload)
}
