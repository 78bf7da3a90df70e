package locations;

import io.smallrye.mutiny.Uni;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.auth.authentication.UsernamePasswordCredentials;
import io.vertx.ext.web.client.WebClientOptions;
import io.vertx.mutiny.core.Vertx;
import io.vertx.mutiny.core.buffer.Buffer;
import io.vertx.mutiny.ext.web.client.HttpRequest;
import io.vertx.mutiny.ext.web.client.HttpResponse;
import io.vertx.mutiny.ext.web.client.WebClient;
import jakarta.inject.Singleton;
import java.net.URI;

/** Asks Elasticsearch without holding a thread; a missing document is null. */
@Singleton
class Elasticsearch {
    private static final int MAX_CONNECTIONS = 512;
    private static final int TIMEOUT = 10_000; // ms

    private final Vertx vertx;
    private WebClient client;
    private UsernamePasswordCredentials user; // may be null
    private String path;

    Elasticsearch(Vertx vertx) {
        this.vertx = vertx;
    }

    /** Says where Elasticsearch is; to be called once, before all else. */
    void connect(URI url) {
        client = WebClient.create(vertx, new WebClientOptions().setDefaultHost(url.getHost()).setDefaultPort(url.getPort())
            .setSsl(url.getScheme().equals("https")).setConnectTimeout(TIMEOUT / 2).setMaxPoolSize(MAX_CONNECTIONS));
        path = url.getPath().replaceFirst("/+$", "");
        if (url.getUserInfo() != null) {
            var parts = url.getUserInfo().split(":", 2);
            user = new UsernamePasswordCredentials(parts[0], parts.length == 2 ? parts[1] : "");
        }
    }

    /** Makes one round trip. */
    Uni<?> ping() {
        return get("/").map(Elasticsearch::orThrow);
    }

    /** A document without what the service never needs, of which geometry is the most. */
    Uni<JsonObject> source(String index, long id) {
        return get("/" + index + "/_source/" + id + "?_source_excludes=geometry,population")
            .map(response -> response.statusCode() == 404 ? null : orThrow(response).bodyAsJsonObject())
            .onFailure().transform(StoreException::new);
    }

    private Uni<HttpResponse<Buffer>> get(String uri) {
        HttpRequest<Buffer> request = client.get(path + uri).timeout(TIMEOUT);
        return (user == null ? request : request.authentication(user)).send();
    }

    private static HttpResponse<Buffer> orThrow(HttpResponse<Buffer> response) {
        if (response.statusCode() == 200) return response;
        throw new IllegalStateException("Elasticsearch answered " + response.statusCode() + " " + response.statusMessage());
    }
}
