package locations

import org.slf4j.LoggerFactory
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ExecutionException
import java.util.concurrent.TimeUnit.SECONDS
import java.util.concurrent.TimeoutException
import kotlin.concurrent.thread
import kotlin.system.exitProcess
import locations.server.Draining
import locations.server.engine
import org.http4k.core.then

private const val START_WITHIN_S = 10L // for the first round trip to the store
private const val STOP_WITHIN_S = 13L // for the requests in flight

private val log = LoggerFactory.getLogger("locations")

fun main() {
    try {
        start(Config.from(System.getenv()))
    } catch (e: Exception) {
        log.error(e.message ?: e.toString())
        exitProcess(1)
    }
}

private fun start(config: Config) {
    val elasticsearch = Elasticsearch.at(config.elasticsearch)
    reach(elasticsearch, config)
    val draining = Draining()
    val server = engine(config.engine, config.port).toServer(draining.then(app(Cities(elasticsearch), config.contract, config.accessLog)))
    server.start()
    log.info("locations service listening on port {}, engine {}, {} CPUs", server.port(), config.engine, Runtime.getRuntime().availableProcessors())
    Runtime.getRuntime().addShutdownHook(thread(start = false) {
        val drained = draining.await(STOP_WITHIN_S)
        server.stop()
        log.info(if (drained) "stopped" else "stopped; requests were broken off after $STOP_WITHIN_S s")
        // A JVM that ends by SIGTERM would exit with 143, although all went as it should.
        Runtime.getRuntime().halt(if (drained) 0 else 1)
    })
}

/** One round trip; in a thread of its own, since resolving a name cannot be given a time-out. */
private fun reach(elasticsearch: Elasticsearch, config: Config) {
    val at = "${config.elasticsearch.host}:${config.elasticsearch.port}"
    try {
        CompletableFuture.runAsync { elasticsearch.ping() }.get(START_WITHIN_S, SECONDS)
    } catch (e: ExecutionException) {
        throw IllegalStateException("cannot reach Elasticsearch at $at: ${e.cause?.message}", e)
    } catch (_: TimeoutException) {
        throw IllegalStateException("cannot reach Elasticsearch at $at: no answer within $START_WITHIN_S s")
    }
}
