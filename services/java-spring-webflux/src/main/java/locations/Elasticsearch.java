package locations;

import io.netty.channel.ChannelOption;
import java.time.Duration;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpHeaders;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.stereotype.Component;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.client.WebClientResponseException;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

/** Asks Elasticsearch without holding a thread. */
@Component
@RegisterReflectionForBinding({City.class, Region.class}) // for the native variant
public class Elasticsearch {
    private final WebClient client;

    public Elasticsearch(@Value("${ELASTICSEARCH_URL}") String url) {
        var store = Store.of(url);
        var builder = WebClient.builder().baseUrl(store.base()).clientConnector(connector());
        store.authorization().ifPresent(value -> builder.defaultHeader(HttpHeaders.AUTHORIZATION, value));
        client = builder.build();
    }

    /** Requests without a connection wait for one. By default only 1,000 may, and the others fail. */
    private static ReactorClientHttpConnector connector() {
        var connections = ConnectionProvider.builder("elasticsearch").maxConnections(500).pendingAcquireMaxCount(-1).build();
        return new ReactorClientHttpConnector(HttpClient.create(connections)
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 5_000)
            .responseTimeout(Duration.ofSeconds(10)));
    }

    public Mono<City> city(long id) {
        return source("city", id, City.class);
    }

    public Mono<Region> region(long id) {
        return source("region", id, Region.class);
    }

    /** A document without what the service never needs; geometry is most of it. Empty: there is none. */
    private <T> Mono<T> source(String index, long id, Class<T> type) {
        return client.get().uri("/{index}/_source/{id}?_source_excludes=geometry,population", index, id)
            .retrieve()
            .bodyToMono(type)
            .onErrorComplete(WebClientResponseException.NotFound.class);
    }
}
