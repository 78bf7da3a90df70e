package locations;

import java.util.Optional;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.core5.http.io.SocketConfig;
import org.apache.hc.core5.util.Timeout;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpHeaders;
import org.springframework.http.client.HttpComponentsClientHttpRequestFactory;
import org.springframework.stereotype.Component;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.RestClient;

/** Asks Elasticsearch, holding the thread meanwhile; pooled connections, as many as there are threads to use them. */
@Component
@RegisterReflectionForBinding({City.class, Region.class}) // for the native variant
public class Elasticsearch {
    private static final int CONNECTIONS = 2048; // virtual threads may be that many

    private final RestClient client;

    public Elasticsearch(@Value("${ELASTICSEARCH_URL}") String url, RestClient.Builder builder) {
        var store = Store.of(url);
        store.authorization().ifPresent(value -> builder.defaultHeader(HttpHeaders.AUTHORIZATION, value));
        client = builder.baseUrl(store.base()).requestFactory(requests()).build();
    }

    private static HttpComponentsClientHttpRequestFactory requests() {
        var connections = PoolingHttpClientConnectionManagerBuilder.create()
            .setMaxConnTotal(CONNECTIONS)
            .setMaxConnPerRoute(CONNECTIONS)
            .setDefaultConnectionConfig(ConnectionConfig.custom().setConnectTimeout(Timeout.ofSeconds(5)).build())
            .setDefaultSocketConfig(SocketConfig.custom().setSoTimeout(Timeout.ofSeconds(10)).build())
            .build();
        var config = RequestConfig.custom()
            .setConnectionRequestTimeout(Timeout.ofSeconds(10))
            .setResponseTimeout(Timeout.ofSeconds(10))
            .build();
        return new HttpComponentsClientHttpRequestFactory(
            HttpClients.custom().setConnectionManager(connections).setDefaultRequestConfig(config).disableCookieManagement().build());
    }

    public Optional<City> city(long id) {
        return source("city", id, City.class);
    }

    public Optional<Region> region(long id) {
        return source("region", id, Region.class);
    }

    /** A document without what the service never needs; geometry is most of it. */
    private <T> Optional<T> source(String index, long id, Class<T> type) {
        try {
            return Optional.ofNullable(
                client.get().uri("/{index}/_source/{id}?_source_excludes=geometry,population", index, id).retrieve().body(type));
        } catch (HttpClientErrorException.NotFound e) {
            return Optional.empty();
        }
    }
}
