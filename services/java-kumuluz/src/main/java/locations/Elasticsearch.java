package locations;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;

/** Asks Elasticsearch without holding a thread. */
public class Elasticsearch {
    private final Store store;
    private final ObjectMapper json = new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
    private final HttpClient client = HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .connectTimeout(Duration.ofSeconds(5))
        .executor(Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors()))
        .build();

    public Elasticsearch(Store store) {
        this.store = store;
    }

    public CompletableFuture<Optional<City>> city(long id) {
        return source("city", id, City.class);
    }

    public CompletableFuture<Optional<Region>> region(long id) {
        return source("region", id, Region.class);
    }

    /** A document without what the service never needs; geometry is most of it. */
    private <T> CompletableFuture<Optional<T>> source(String index, long id, Class<T> type) {
        var uri = URI.create(store.base() + "/" + index + "/_source/" + id + "?_source_excludes=geometry,population");
        var request = HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(10));
        store.authorization().ifPresent(value -> request.header("Authorization", value));
        return client.sendAsync(request.build(), BodyHandlers.ofByteArray()).thenApply(response -> read(response, type));
    }

    private <T> Optional<T> read(HttpResponse<byte[]> response, Class<T> type) {
        return switch (response.statusCode()) {
            case 200 -> {
                try {
                    yield Optional.of(json.readValue(response.body(), type));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
            case 404 -> Optional.empty();
            default -> throw new IllegalStateException(response.uri().getPath() + ": Elasticsearch answers " + response.statusCode());
        };
    }
}
