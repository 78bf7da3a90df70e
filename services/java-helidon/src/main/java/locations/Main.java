package locations;

import io.helidon.logging.common.LogConfig;
import io.helidon.webserver.WebServer;
import java.lang.System.Logger.Level;
import java.time.Duration;

/** Starts the service: one round trip to the store, then Helidon with a virtual thread for each request. */
public final class Main {
    /** What requests in flight have to finish in a stop. */
    private static final Duration STOP_WITHIN = Duration.ofSeconds(12);
    private static final Duration START_WITHIN = Duration.ofSeconds(10); // for the first round trip to the store

    public static void main(String[] args) {
        LogConfig.configureRuntime();
        var log = System.getLogger("locations");
        try {
            start(Config.from(System.getenv()), log);
        } catch (Exception e) {
            log.log(Level.ERROR, e.getMessage());
            System.exit(1);
        }
    }

    private static void start(Config config, System.Logger log) throws Exception {
        var cities = new Cities(config.elasticsearch());
        reach(cities, config.store());
        var server = WebServer.builder()
            .port(config.port())
            .routing(routing -> Api.routes(routing, cities, config.accessLog()))
            .directHandlers(Api.directHandlers(config.accessLog()))
            .shutdownHook(false) // Helidon's own leaves the exit code of a signal
            .shutdownGracePeriod(STOP_WITHIN)
            .build()
            .start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            server.stop();
            // No line in the log: the hook of java.util.logging has closed it by now.
            // A JVM that ends by SIGTERM would exit with 143, although all went as it should.
            Runtime.getRuntime().halt(0);
        }));
        log.log(Level.INFO, "locations service listening on port " + server.port() + ", " + Runtime.getRuntime().availableProcessors() + " CPUs");
    }

    /** One round trip; in a thread of its own, since resolving a name cannot be given a time-out. */
    private static void reach(Cities cities, String store) throws Exception {
        var problem = new Exception[1];
        var ping = Thread.startVirtualThread(() -> {
            try {
                cities.ping();
            } catch (RuntimeException e) {
                problem[0] = new Exception("cannot reach Elasticsearch at " + store + ": " + rootMessage(e), e);
            }
        });
        if (!ping.join(START_WITHIN)) throw new Exception("cannot reach Elasticsearch at " + store + ": no answer within " + START_WITHIN.toSeconds() + " s");
        if (problem[0] != null) throw problem[0];
    }

    private static String rootMessage(Throwable e) {
        while (e.getCause() != null) e = e.getCause();
        return e instanceof StoreException ? e.getMessage() : e.toString();
    }
}
