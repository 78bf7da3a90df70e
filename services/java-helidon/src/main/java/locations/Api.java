package locations;

import io.helidon.http.DirectHandler;
import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import io.helidon.http.Status;
import io.helidon.json.JsonObject;
import io.helidon.webserver.http.DirectHandlers;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;

/** The endpoints. Each request has a virtual thread, so whatever waits here holds no thread of the system. */
final class Api {
    private static final System.Logger log = System.getLogger("locations");

    private final Cities cities;

    private Api(Cities cities) {
        this.cities = cities;
    }

    static void routes(HttpRouting.Builder routing, Cities cities, boolean accessLog) {
        var api = new Api(cities);
        if (accessLog) {
            routing.addFilter((chain, request, response) -> {
                response.whenSent(() -> log.log(Level.INFO, request.prologue().method() + " " + request.path().rawPath() + " " + response.status().code()));
                chain.proceed();
            });
        }
        routing
            .get("/", (request, response) -> response.send(JsonObject.builder().set("service", "locations").build()))
            .get("/city/v1/get", api::city)
            .get("/v1/benchmark", Api::benchmark)
            .any(Api::nothing)
            .error(Problem.class, (request, response, problem) -> answer(response, problem.status, problem.getMessage()))
            .error(StoreException.class, (request, response, e) -> {
                log.log(Level.ERROR, request.path().rawPath() + ": " + e);
                answer(response, Status.BAD_GATEWAY_502, "store: Elasticsearch did not answer as it should");
            })
            .error(Exception.class, (request, response, e) -> {
                log.log(Level.ERROR, request.path().rawPath(), e);
                answer(response, Status.INTERNAL_SERVER_ERROR_500, "service: it failed, the log says why");
            });
    }

    /** What never gets as far as the routes and filters, such as a path that is not escaped as a URL wants it, is logged and answered as JSON too. */
    static DirectHandlers directHandlers(boolean accessLog) {
        DirectHandler json = (request, event, status, headers, message) -> {
            if (accessLog) log.log(Level.INFO, request.method() + " " + request.path() + " " + status.code());
            return DirectHandler.TransportResponse.builder()
                .status(status)
                .headers(headers)
                .header(HeaderNames.CONTENT_TYPE, "application/json")
                .entity(problem("request: " + status.reasonPhrase()).toString().getBytes(StandardCharsets.UTF_8))
                .build();
        };
        var handlers = DirectHandlers.builder();
        for (var event : DirectHandler.EventType.values()) handlers.addHandler(event, json);
        return handlers.build();
    }

    private void city(ServerRequest request, ServerResponse response) {
        var params = new Params(request.query());
        long id = params.id();
        var language = params.language();
        params.check();
        response.send(cities.get(id, language).orElseThrow(() -> new Problem(Status.NOT_FOUND_404, "id: there is no city " + id)));
    }

    private static void benchmark(ServerRequest request, ServerResponse response) throws InterruptedException {
        var params = new Params(request.query());
        int delay = params.delayMillis();
        params.check();
        if (delay > 0) Thread.sleep(delay);
        response.send();
    }

    private static void nothing(ServerRequest request, ServerResponse response) {
        if (request.prologue().method() != Method.GET) throw new Problem(Status.METHOD_NOT_ALLOWED_405, "method: only GET is served here");
        throw new Problem(Status.NOT_FOUND_404, "path: there is nothing here");
    }

    private static void answer(ServerResponse response, Status status, String message) {
        response.status(status).send(problem(message));
    }

    private static JsonObject problem(String message) {
        return JsonObject.builder().set("message", message).build();
    }
}
