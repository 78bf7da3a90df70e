package locations.server

import org.apache.hc.core5.http.ContentType
import org.apache.hc.core5.http.impl.bootstrap.ServerBootstrap
import org.apache.hc.core5.http.io.HttpRequestHandler
import org.apache.hc.core5.http.io.SocketConfig
import org.apache.hc.core5.http.io.entity.ByteArrayEntity
import org.apache.hc.core5.io.CloseMode
import org.apache.http.HttpEntityEnclosingRequest
import org.http4k.core.HttpHandler
import org.http4k.core.Response
import org.http4k.core.Status
import org.http4k.server.Http4kServer
import org.http4k.server.ServerConfig
import java.util.concurrent.TimeUnit.MILLISECONDS
import org.apache.http.config.SocketConfig as SocketConfig4
import org.apache.http.entity.ByteArrayEntity as ByteArrayEntity4
import org.apache.http.impl.bootstrap.ServerBootstrap as ServerBootstrap4

private const val BACKLOG = 1000

/** The blocking server of Apache HttpCore 5: a thread for each connection. */
class Apache5(private val port: Int) : ServerConfig {
    override val stopMode get() = locations.server.stopMode

    override fun toServer(http: HttpHandler): Http4kServer = object : Http4kServer {
        private val handler = HttpRequestHandler { request, answer, _ ->
            val response = request(request.method, request.path, request.headers.map { it.name to it.value })?.let(http) ?: Response(Status.NOT_IMPLEMENTED)
            answer.code = response.status.code
            response.headers.filterNot { (name, _) -> name.equals("content-type", ignoreCase = true) }.forEach { (name, value) -> answer.addHeader(name, value) }
            answer.entity = ByteArrayEntity(response.body.payload.array(), response.header("content-type")?.let(ContentType::parse))
        }
        private val server = ServerBootstrap.bootstrap()
            .setListenerPort(port)
            .setSocketConfig(SocketConfig.custom().setTcpNoDelay(true).setSoReuseAddress(true).setBacklogSize(BACKLOG).build())
            .setRequestRouter { _, _ -> handler } // without it, a request for any host but this one is answered 421
            .create()

        override fun start() = apply { server.start() }
        override fun stop() = apply { server.close(CloseMode.GRACEFUL) }
        override fun port() = server.localPort
    }
}

/** The blocking server of Apache HttpCore 4: a thread for each connection. */
class Apache4(private val port: Int) : ServerConfig {
    override val stopMode get() = locations.server.stopMode

    override fun toServer(http: HttpHandler): Http4kServer = object : Http4kServer {
        private val server = ServerBootstrap4.bootstrap()
            .setListenerPort(port)
            .setSocketConfig(SocketConfig4.custom().setTcpNoDelay(true).setSoReuseAddress(true).setBacklogSize(BACKLOG).build())
            .registerHandler("*") { request, answer, _ ->
                val line = request.requestLine
                val response = request(line.method, line.uri, request.allHeaders.map { it.name to it.value })?.let(http) ?: Response(Status.NOT_IMPLEMENTED)
                answer.setStatusCode(response.status.code)
                response.headers.forEach { (name, value) -> answer.addHeader(name, value) }
                answer.entity = ByteArrayEntity4(response.body.payload.array())
            }
            .create()

        override fun start() = apply { server.start() }
        override fun stop() = apply { server.shutdown(stopMode.timeout.toMillis(), MILLISECONDS) }
        override fun port() = server.localPort
    }
}
