package locations;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts the service: one round trip to the store, then a verticle on an event loop for each CPU. */
public final class Main {
    private static final int START_WITHIN = 10; // seconds, for the first round trip to the store
    private static final Logger log = LoggerFactory.getLogger("locations");

    public static void main(String[] args) {
        try {
            start(Config.from(System.getenv()));
        } catch (Exception e) {
            log.error(e.getMessage());
            System.exit(1);
        }
    }

    private static void start(Config config) throws Exception {
        var vertx = Vertx.vertx();
        await(new Cities(vertx, config.elasticsearch(), Map.of()).ping(), "cannot reach Elasticsearch at " + config.store());
        var regions = new ConcurrentHashMap<Long, Names>();
        int loops = Runtime.getRuntime().availableProcessors();
        await(vertx.deployVerticle(() -> new Api(config, regions), new DeploymentOptions().setInstances(loops)),
            "cannot listen on port " + config.port());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(vertx)));
        log.info("locations service listening on port {}, {} event loops", config.port(), loops);
    }

    private static void await(Future<?> future, String problem) throws Exception {
        try {
            future.await(START_WITHIN, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new Exception(problem + ": no answer within " + START_WITHIN + " s");
        } catch (Exception e) {
            throw new Exception(problem + ": " + e.getMessage(), e);
        }
    }

    private static void stop(Vertx vertx) {
        int code = 0;
        try {
            vertx.close().await(Api.STOP_WITHIN.toSeconds() + 1, TimeUnit.SECONDS); // undeploys, and so stops, the verticles first
            log.info("stopped");
        } catch (Exception e) {
            log.error("stop: {}", e.toString());
            code = 1;
        }
        // A JVM that ends by SIGTERM would exit with 143, although all went as it should.
        Runtime.getRuntime().halt(code);
    }
}
