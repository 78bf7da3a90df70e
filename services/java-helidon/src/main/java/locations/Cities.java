package locations;

import io.helidon.http.HeaderNames;
import io.helidon.http.Status;
import io.helidon.json.JsonObject;
import io.helidon.webclient.api.HttpClientRequest;
import io.helidon.webclient.api.HttpClientResponse;
import io.helidon.webclient.api.Proxy;
import io.helidon.webclient.api.WebClient;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** Cities out of Elasticsearch. Regions, of which there are tens, are kept for ever; cities are not. */
final class Cities {
    private static final int KEPT_CONNECTIONS = 2048; // idle ones; Helidon opens as many as there are requests in flight

    private final WebClient client;
    private final String path;
    private final Map<Long, Names> regions = new ConcurrentHashMap<>();

    Cities(URI url) {
        var builder = WebClient.builder()
            .baseUri(url.getScheme() + "://" + url.getHost() + ":" + url.getPort())
            .proxy(Proxy.noProxy())
            .connectTimeout(Duration.ofSeconds(5))
            .readTimeout(Duration.ofSeconds(10))
            .connectionCacheSize(KEPT_CONNECTIONS);
        if (url.getUserInfo() != null) {
            builder.addHeader(HeaderNames.AUTHORIZATION, "Basic " + Base64.getEncoder().encodeToString(url.getUserInfo().getBytes(StandardCharsets.UTF_8)));
        }
        this.client = builder.build();
        this.path = url.getPath().replaceFirst("/+$", "");
    }

    /** Makes one round trip. */
    void ping() {
        ask(client.get(path + "/"), response -> orThrow(response).as(JsonObject.class));
    }

    /** The city in the language of the request, if there is one; throws {@link StoreException}. */
    Optional<JsonObject> get(long id, Language language) {
        return source("city", id).map(city -> JsonObject.builder()
            .set("countryIso", city.stringValue("countryIso", ""))
            .set("id", city.longValue("id", id))
            .set("isFeatured", city.booleanValue("isFeatured", false))
            .set("name", city.stringValue("name." + language, ""))
            .set("regionName", region(city.longValue("regionId", 0)).in(language))
            .build());
    }

    private Names region(long id) {
        var known = regions.get(id);
        if (known != null) return known;
        var names = Names.of(source("region", id).orElseThrow(() -> new StoreException("there is no region " + id)));
        regions.put(id, names);
        return names;
    }

    /** A document without what the service never needs, of which geometry is the most. */
    private Optional<JsonObject> source(String index, long id) {
        var request = client.get(path + "/" + index + "/_source/" + id).queryParam("_source_excludes", "geometry,population");
        return ask(request, response -> response.status().equals(Status.NOT_FOUND_404)
            ? Optional.empty() : Optional.of(orThrow(response).as(JsonObject.class)));
    }

    private static <T> T ask(HttpClientRequest request, Function<HttpClientResponse, T> read) {
        try (var response = request.request()) {
            return read.apply(response);
        } catch (StoreException e) {
            throw e;
        } catch (RuntimeException e) { // of many kinds
            throw new StoreException(e);
        }
    }

    private static HttpClientResponse orThrow(HttpClientResponse response) {
        if (response.status().equals(Status.OK_200)) return response;
        throw new StoreException("Elasticsearch answered " + response.status());
    }
}
