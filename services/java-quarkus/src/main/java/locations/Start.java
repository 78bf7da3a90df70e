package locations;

import io.quarkus.runtime.StartupEvent;
import io.quarkus.runtime.configuration.ConfigurationException;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** Makes one round trip to the store; Quarkus listens only after it. */
@ApplicationScoped
class Start {
    private static final Duration WITHIN = Duration.ofSeconds(10);

    /** The property is ELASTICSEARCH_URL in the environment. */
    void reach(@Observes StartupEvent event, Elasticsearch elasticsearch, @ConfigProperty(name = "elasticsearch.url") Optional<String> text) {
        try {
            var url = url(text);
            try {
                elasticsearch.connect(url);
                elasticsearch.ping().await().atMost(WITHIN);
            } catch (RuntimeException e) { // Mutiny's time-out too
                throw new IllegalArgumentException("cannot reach Elasticsearch at " + url.getHost() + ":" + url.getPort() + ": " + e.getMessage());
            }
        } catch (IllegalArgumentException e) {
            throw new ConfigurationException(e.getMessage()); // Quarkus ends with this one line
        }
    }

    private static URI url(Optional<String> text) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException("ELASTICSEARCH_URL is not set: want the URL of Elasticsearch, for example http://localhost:9200");
        }
        try {
            var url = new URI(text.get());
            if (url.getScheme() != null && url.getHost() != null && Set.of("http", "https").contains(url.getScheme())) {
                int port = url.getPort() >= 0 ? url.getPort() : url.getScheme().equals("https") ? 443 : 80;
                return new URI(url.getScheme(), url.getUserInfo(), url.getHost(), port, url.getPath(), null, null);
            }
        } catch (URISyntaxException e) {
            // told below
        }
        // The value is not repeated: it may hold a password.
        throw new IllegalArgumentException("ELASTICSEARCH_URL is malformed: want a URL such as http://localhost:9200");
    }
}
