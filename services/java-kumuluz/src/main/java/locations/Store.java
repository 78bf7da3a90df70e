package locations;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Base64;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/** Where Elasticsearch is. Messages never repeat the URL as it was given: it may hold a password. */
public record Store(URI uri) {
    private static final int START_WITHIN = 10_000; // ms

    /** @throws IllegalArgumentException with a message for the operator */
    public static Store of(String url) {
        if (url == null || url.isEmpty()) {
            throw new IllegalArgumentException("ELASTICSEARCH_URL is not set: want the URL of Elasticsearch, for example http://localhost:9200");
        }
        try {
            var uri = new URI(url);
            if (uri.getHost() != null && Set.of("http", "https").contains(uri.getScheme())) {
                return new Store(uri);
            }
        } catch (URISyntaxException e) {
            // told below
        }
        throw new IllegalArgumentException("ELASTICSEARCH_URL is malformed: want a URL such as http://localhost:9200");
    }

    /** Host and port, for messages. */
    public String name() {
        return uri.getHost() + (uri.getPort() < 0 ? "" : ":" + uri.getPort());
    }

    /** The URL to put paths behind, without user and password. */
    public String base() {
        return uri.getScheme() + "://" + name() + uri.getRawPath().replaceAll("/+$", "");
    }

    /** The value of the header for the user and password in the URL, if they are there. */
    public Optional<String> authorization() {
        return Optional.ofNullable(uri.getUserInfo()).map(user -> "Basic " + Base64.getEncoder().encodeToString(user.getBytes()));
    }

    /** Makes one round trip; in a thread of its own, since resolving a name cannot be given a time-out. */
    public void reach() {
        try {
            CompletableFuture.runAsync(this::ask).orTimeout(START_WITHIN, TimeUnit.MILLISECONDS).join();
        } catch (CompletionException e) {
            var cause = e.getCause() instanceof UncheckedIOException wrapped ? wrapped.getCause() : e.getCause();
            throw new IllegalStateException("cannot reach Elasticsearch at " + name() + ": " + cause);
        }
    }

    private void ask() {
        try {
            var connection = (HttpURLConnection) URI.create(base()).toURL().openConnection();
            connection.setConnectTimeout(START_WITHIN);
            connection.setReadTimeout(START_WITHIN);
            authorization().ifPresent(value -> connection.setRequestProperty("Authorization", value));
            if (connection.getResponseCode() != HttpURLConnection.HTTP_OK) {
                throw new IOException("it answers " + connection.getResponseCode());
            }
            connection.disconnect();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
