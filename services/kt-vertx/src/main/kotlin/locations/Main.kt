package locations

import io.vertx.core.Deployable
import io.vertx.core.DeploymentOptions
import io.vertx.core.Vertx
import io.vertx.kotlin.coroutines.coAwait
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeoutOrNull
import org.slf4j.LoggerFactory
import java.util.concurrent.ConcurrentHashMap
import java.util.function.Supplier
import kotlin.concurrent.thread
import kotlin.system.exitProcess
import kotlin.time.Duration.Companion.seconds

private val startWithin = 10.seconds // for the first round trip to the store

private val log = LoggerFactory.getLogger("locations")

/** Starts the service: one round trip to the store, then a verticle on an event loop for each CPU. */
fun main() {
    try {
        runBlocking { start(Config.from(System.getenv())) }
    } catch (e: Exception) {
        log.error(e.message ?: e.toString())
        exitProcess(1)
    }
}

private suspend fun start(config: Config) {
    val vertx = Vertx.vertx()
    reach(Cities(vertx, config.elasticsearch, ConcurrentHashMap()), config.store)
    val regions = ConcurrentHashMap<Long, Names>()
    val loops = Runtime.getRuntime().availableProcessors()
    try {
        vertx.deployVerticle(Supplier<Deployable> { Api(config, regions) }, DeploymentOptions().setInstances(loops)).coAwait()
    } catch (e: Exception) {
        throw IllegalStateException("cannot listen on port ${config.port}: ${e.message}", e)
    }
    Runtime.getRuntime().addShutdownHook(thread(start = false) { stop(vertx) })
    log.info("locations service listening on port {}, {} event loops", config.port, loops)
}

private suspend fun reach(cities: Cities, store: String) {
    try {
        withTimeoutOrNull(startWithin) { cities.ping() } ?: error("no answer within $startWithin")
    } catch (e: Exception) {
        throw IllegalStateException("cannot reach Elasticsearch at $store: ${e.message}", e)
    }
}

private fun stop(vertx: Vertx) {
    val stopped = runCatching {
        runBlocking { vertx.close().coAwait() } // undeploys, and so stops, the verticles first
    }
    stopped.onSuccess { log.info("stopped") }.onFailure { log.error("stop: {}", it.toString()) }
    // A JVM that ends by SIGTERM would exit with 143, although all went as it should.
    Runtime.getRuntime().halt(if (stopped.isSuccess) 0 else 1)
}
