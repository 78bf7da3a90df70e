package locations;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpServer;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.HttpException;
import io.vertx.ext.web.handler.LoggerFormat;
import io.vertx.ext.web.handler.LoggerHandler;
import java.time.Duration;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The endpoints, on one event loop. All instances listen on the same port. */
final class Api extends VerticleBase {
    /** What requests in flight have to finish in a stop. */
    static final Duration STOP_WITHIN = Duration.ofSeconds(12);
    private static final Logger log = LoggerFactory.getLogger("locations");

    private final Config config;
    private final Map<Long, Names> regions;
    private Cities cities;
    private HttpServer server;

    Api(Config config, Map<Long, Names> regions) {
        this.config = config;
        this.regions = regions;
    }

    @Override
    public Future<?> start() {
        cities = new Cities(vertx, config.elasticsearch(), regions);
        server = vertx.createHttpServer().requestHandler(router());
        return server.listen(config.port(), "0.0.0.0");
    }

    @Override
    public Future<?> stop() {
        return server.shutdown(STOP_WITHIN);
    }

    private Router router() {
        var router = Router.router(vertx);
        if (config.accessLog()) router.route().handler(LoggerHandler.create(LoggerFormat.TINY));
        router.get("/").respond(ctx -> Future.succeededFuture(new JsonObject().put("service", "locations")));
        router.get("/city/v1/get").respond(this::city);
        router.get("/v1/benchmark").handler(this::benchmark);
        router.route().failureHandler(Api::problem);
        router.errorHandler(400, ctx -> answer(ctx, 400, "path: not escaped as a URL wants it"));
        router.errorHandler(404, ctx -> answer(ctx, 404, "path: there is nothing here"));
        router.errorHandler(405, ctx -> answer(ctx, 405, "method: only GET is served here"));
        return router;
    }

    private Future<JsonObject> city(RoutingContext ctx) {
        var params = new Params(ctx.queryParams());
        long id = params.id();
        var language = params.language();
        params.check();
        return cities.get(id, language);
    }

    private void benchmark(RoutingContext ctx) {
        var params = new Params(ctx.queryParams());
        int delay = params.delayMillis();
        params.check();
        if (delay == 0) ctx.end();
        else vertx.timer(delay).onSuccess(v -> ctx.end()); // a timer of the event loop: no thread is held
    }

    private static void problem(RoutingContext ctx) {
        if (ctx.failure() instanceof HttpException e) {
            if (e.getStatusCode() >= 500) log.error("{}: {}", ctx.request().path(), String.valueOf(e.getCause()));
            answer(ctx, e.getStatusCode(), e.getPayload() != null ? e.getPayload() : e.getMessage());
        } else if (ctx.failure() != null) {
            log.error("{}", ctx.request().path(), ctx.failure());
            answer(ctx, 500, "service: it failed, the log says why");
        } else {
            ctx.next(); // a plain status: to the error handlers
        }
    }

    private static void answer(RoutingContext ctx, int status, String message) {
        if (ctx.response().ended() || ctx.response().closed()) return;
        ctx.response().setStatusCode(status);
        ctx.json(new JsonObject().put("message", message));
    }
}
