package locations;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.auth.authentication.UsernamePasswordCredentials;
import io.vertx.ext.web.client.HttpRequest;
import io.vertx.ext.web.client.HttpResponse;
import io.vertx.ext.web.client.WebClient;
import io.vertx.ext.web.client.WebClientOptions;
import io.vertx.ext.web.handler.HttpException;
import java.net.URI;
import java.util.Map;

/** Cities out of Elasticsearch. Regions, of which there are tens, are kept for ever; cities are not. */
final class Cities {
    private static final int MAX_CONNECTIONS = 256; // of one event loop
    private static final int TIMEOUT = 10_000; // ms

    private final WebClient client;
    private final UsernamePasswordCredentials user; // may be null
    private final String path;
    private final Map<Long, Names> regions;

    /** The regions are shared by all event loops. */
    Cities(Vertx vertx, URI url, Map<Long, Names> regions) {
        var options = new WebClientOptions().setDefaultHost(url.getHost()).setDefaultPort(url.getPort())
            .setSsl(url.getScheme().equals("https")).setConnectTimeout(TIMEOUT / 2);
        this.client = WebClient.create(vertx, options, new PoolOptions().setHttp1MaxSize(MAX_CONNECTIONS));
        this.path = url.getPath().replaceFirst("/+$", "");
        this.regions = regions;
        if (url.getUserInfo() == null) {
            this.user = null;
        } else {
            var parts = url.getUserInfo().split(":", 2);
            this.user = new UsernamePasswordCredentials(parts[0], parts.length == 2 ? parts[1] : "");
        }
    }

    /** Makes one round trip. */
    Future<?> ping() {
        return get("/").map(Cities::orThrow);
    }

    /** The city in the language of the request; fails with an {@link HttpException}, of 404 if there is none. */
    Future<JsonObject> get(long id, Language language) {
        return source("city", id)
            .recover(Cities::unavailable)
            .compose(city -> {
                if (city == null) return Future.failedFuture(new HttpException(404, "id: there is no city " + id));
                return region(city.getLong("regionId")).recover(Cities::unavailable).map(region -> new JsonObject()
                    .put("countryIso", city.getString("countryIso"))
                    .put("id", city.getLong("id"))
                    .put("isFeatured", city.getBoolean("isFeatured"))
                    .put("name", city.getString("name." + language))
                    .put("regionName", region.in(language)));
            });
    }

    private Future<Names> region(long id) {
        var known = regions.get(id);
        if (known != null) return Future.succeededFuture(known);
        return source("region", id).map(document -> {
            if (document == null) throw new IllegalStateException("the store has no region " + id);
            var names = Names.of(document);
            regions.put(id, names);
            return names;
        });
    }

    /** A document without what the service never needs, of which geometry is the most; null if there is none. */
    private Future<JsonObject> source(String index, long id) {
        return get("/" + index + "/_source/" + id + "?_source_excludes=geometry,population")
            .map(response -> response.statusCode() == 404 ? null : orThrow(response).bodyAsJsonObject());
    }

    private Future<HttpResponse<Buffer>> get(String uri) {
        HttpRequest<Buffer> request = client.get(path + uri).timeout(TIMEOUT);
        if (user != null) request.authentication(user);
        return request.send();
    }

    private static HttpResponse<Buffer> orThrow(HttpResponse<Buffer> response) {
        if (response.statusCode() == 200) return response;
        throw new IllegalStateException("Elasticsearch answered " + response.statusCode() + " " + response.statusMessage());
    }

    private static <T> Future<T> unavailable(Throwable cause) {
        return Future.failedFuture(new HttpException(502, "store: Elasticsearch did not answer as it should", cause));
    }
}
