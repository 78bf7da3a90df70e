package locations;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Map;
import java.util.Set;

/** What the service reads of its environment. */
record Config(int port, URI elasticsearch, boolean accessLog) {
    /** Throws {@link IllegalArgumentException} with a message for the operator. */
    static Config from(Map<String, String> env) {
        return new Config(port(env.getOrDefault("PORT", "")), elasticsearch(env.getOrDefault("ELASTICSEARCH_URL", "")),
            !"off".equals(env.get("ACCESS_LOG")));
    }

    /** Host and port of the store, for messages. */
    String store() {
        return elasticsearch.getHost() + ":" + elasticsearch.getPort();
    }

    private static int port(String text) {
        if (text.isEmpty()) return 8080;
        try {
            int port = Integer.parseInt(text);
            if (port > 0 && port < 65536) return port;
        } catch (NumberFormatException e) {
            // told below
        }
        throw new IllegalArgumentException("PORT is \"" + text + "\": want a number from 1 to 65535");
    }

    private static URI elasticsearch(String text) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException("ELASTICSEARCH_URL is not set: want the URL of Elasticsearch, for example http://localhost:9200");
        }
        try {
            var uri = new URI(text);
            if (uri.getScheme() != null && uri.getHost() != null && Set.of("http", "https").contains(uri.getScheme())) {
                int port = uri.getPort() >= 0 ? uri.getPort() : uri.getScheme().equals("https") ? 443 : 80;
                return new URI(uri.getScheme(), uri.getUserInfo(), uri.getHost(), port, uri.getPath(), null, null);
            }
        } catch (URISyntaxException e) {
            // told below
        }
        // The value is not repeated: it may hold a password.
        throw new IllegalArgumentException("ELASTICSEARCH_URL is malformed: want a URL such as http://localhost:9200");
    }
}
