package locations

import io.ktor.server.application.Application
import io.ktor.server.application.ServerReady
import io.ktor.server.cio.CIO
import io.ktor.server.engine.EmbeddedServer
import io.ktor.server.engine.connector
import io.ktor.server.engine.embeddedServer
import io.ktor.server.jetty.jakarta.Jetty
import io.ktor.server.netty.Netty
import kotlinx.coroutines.runBlocking
import org.eclipse.jetty.server.HttpConfiguration
import org.eclipse.jetty.server.Server
import org.eclipse.jetty.server.ServerConnector
import org.eclipse.jetty.util.component.LifeCycle
import org.slf4j.LoggerFactory
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ExecutionException
import java.util.concurrent.TimeUnit.SECONDS
import java.util.concurrent.TimeoutException
import kotlin.concurrent.thread
import kotlin.system.exitProcess
import kotlin.time.Duration.Companion.seconds

private val startWithin = 10.seconds // for the first round trip to the store
private val stopWithin = 12.seconds // for the requests in flight

private val log = LoggerFactory.getLogger("locations")

fun main() {
    System.setProperty("io.ktor.server.engine.ShutdownHook", "false") // Ktor's own breaks off the calls in flight
    try {
        start(Config.from(System.getenv()))
    } catch (e: Exception) {
        log.error(e.message ?: e.toString())
        exitProcess(1)
    }
}

private fun start(config: Config) {
    val elasticsearch = Elasticsearch(config.elasticsearch)
    val draining = Draining()
    val server = server(config.engine, config.port) { locations(Cities(elasticsearch), draining, config.accessLog) }
    reach(elasticsearch, config)
    server.monitor.subscribe(ServerReady) {
        log.info("locations service listening on port {}, engine {}, {} CPUs", config.port, config.engine, Runtime.getRuntime().availableProcessors())
        Runtime.getRuntime().addShutdownHook(thread(start = false) { stop(server, draining) })
    }
    server.start(wait = true)
}

private fun stop(server: EmbeddedServer<*, *>, draining: Draining) {
    val drained = runBlocking { draining.await(stopWithin) }
    server.stop(gracePeriodMillis = 100, timeoutMillis = 1000)
    log.info(if (drained) "stopped" else "stopped; requests were broken off after $stopWithin")
    // A JVM that ends by SIGTERM would exit with 143, although all went as it should.
    Runtime.getRuntime().halt(if (drained) 0 else 1)
}

private fun server(engine: String, port: Int, module: Application.() -> Unit): EmbeddedServer<*, *> = when (engine) {
    "netty" -> embeddedServer(Netty, port, module = module)
    "cio" -> embeddedServer(CIO, port, module = module)
    "jetty" -> embeddedServer(Jetty, configure = {
        connector { this.port = port }
        configureServer = { addEventListener(ManyConnections(this)) }
    }, module = module)
    else -> throw IllegalArgumentException("SERVER_ENGINE is \"$engine\": want netty, cio or jetty")
}

/** Sets up Jetty's connectors, once Ktor has made them, for thousands of connections. */
private class ManyConnections(private val server: Server) : LifeCycle.Listener {
    override fun lifeCycleStarting(event: LifeCycle) = server.connectors.filterIsInstance<ServerConnector>().forEach { connector ->
        connector.acceptQueueSize = 1000 // else 50, and those that come at once beyond it wait until they give up
        connector.connectionFactories.filterIsInstance<HttpConfiguration.ConnectionFactory>().forEach {
            it.httpConfiguration.headerCacheSize = 0 // else each connection has a table of 100 KB: 200 MB of heap for 2,048
        }
    }
}

/** One round trip; in a thread of its own, since resolving a name cannot be given a time-out. */
private fun reach(elasticsearch: Elasticsearch, config: Config) {
    val at = "${config.elasticsearch.host}:${config.elasticsearch.port}"
    try {
        CompletableFuture.runAsync { runBlocking { elasticsearch.ping() } }.get(startWithin.inWholeSeconds, SECONDS)
    } catch (e: ExecutionException) {
        throw IllegalStateException("cannot reach Elasticsearch at $at: ${e.cause?.message}", e)
    } catch (_: TimeoutException) {
        throw IllegalStateException("cannot reach Elasticsearch at $at: no answer within $startWithin")
    }
}
