package locations

import io.vertx.core.http.HttpServer
import io.vertx.core.json.JsonObject
import io.vertx.ext.web.Router
import io.vertx.ext.web.RoutingContext
import io.vertx.ext.web.handler.HttpException
import io.vertx.ext.web.handler.LoggerFormat
import io.vertx.ext.web.handler.LoggerHandler
import io.vertx.kotlin.coroutines.CoroutineRouterSupport
import io.vertx.kotlin.coroutines.CoroutineVerticle
import io.vertx.kotlin.coroutines.coAwait
import kotlinx.coroutines.delay
import org.slf4j.LoggerFactory
import java.util.concurrent.ConcurrentMap
import kotlin.time.Duration.Companion.seconds
import kotlin.time.toJavaDuration

private val stopWithin = 12.seconds // for the requests in flight

private val log = LoggerFactory.getLogger("locations")

/** The endpoints, on one event loop. All instances listen on the same port. */
class Api(private val settings: Config, private val regions: ConcurrentMap<Long, Names>) : CoroutineVerticle(), CoroutineRouterSupport {
    private lateinit var cities: Cities
    private lateinit var server: HttpServer

    override suspend fun start() {
        cities = Cities(vertx, settings.elasticsearch, regions)
        server = vertx.createHttpServer().requestHandler(router())
        server.listen(settings.port, "0.0.0.0").coAwait()
    }

    override suspend fun stop() {
        server.shutdown(stopWithin.toJavaDuration()).coAwait()
    }

    private fun router(): Router = Router.router(vertx).apply {
        if (settings.accessLog) route().handler(LoggerHandler.create(LoggerFormat.TINY))
        get("/").handler { it.json(JsonObject.of("service", "locations")) }
        get("/city/v1/get").coRespond { city(it) }
        get("/v1/benchmark").coHandler { benchmark(it) }
        route().failureHandler(::problem)
        errorHandler(400) { answer(it, 400, "path: not escaped as a URL wants it") }
        errorHandler(404) { answer(it, 404, "path: there is nothing here") }
        errorHandler(405) { answer(it, 405, "method: only GET is served here") }
    }

    private suspend fun city(ctx: RoutingContext): JsonObject {
        val (id, language) = ctx.params { id() to language() }
        return cities.get(id, language) ?: throw HttpException(404, "id: there is no city $id")
    }

    private suspend fun benchmark(ctx: RoutingContext) {
        delay(ctx.params { delayMillis() }) // suspends on a timer of the event loop; no thread is held
        ctx.end().coAwait()
    }
}

private fun problem(ctx: RoutingContext) = when (val cause = ctx.failure()) {
    null -> ctx.next() // a plain status: to the error handlers
    is HttpException -> answer(ctx, cause.statusCode, cause.payload ?: cause.message.orEmpty())
    is StoreException -> {
        log.error("{}: {}", ctx.request().path(), cause.message)
        answer(ctx, 502, "store: Elasticsearch did not answer as it should")
    }
    else -> {
        log.error("{}", ctx.request().path(), cause)
        answer(ctx, 500, "service: it failed, the log says why")
    }
}

private fun answer(ctx: RoutingContext, status: Int, message: String) {
    if (ctx.response().ended() || ctx.response().closed()) return
    ctx.response().setStatusCode(status)
    ctx.json(JsonObject.of("message", message))
}
