package locations;

import io.micronaut.context.ApplicationContext;
import io.micronaut.runtime.server.EmbeddedServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

public class Application {
    private static final Logger log = LoggerFactory.getLogger(Application.class);

    public static void main(String[] args) {
        try {
            Store.of(System.getenv("ELASTICSEARCH_URL")).reach(); // first of all: without it there is nothing to start
            var context = ApplicationContext.run(args);
            var server = context.getBean(EmbeddedServer.class).start();
            log.info("locations service listening on port {}", server.getPort());
            Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(context)));
        } catch (Exception e) {
            log.error("{}", e.getMessage());
            System.exit(1);
        }
    }

    /** A JVM that ends by SIGTERM would exit with 143, although all went as it should; Micronaut.run() would leave it at that. */
    private static void stop(ApplicationContext context) {
        context.close(); // waits for the requests in flight
        Runtime.getRuntime().halt(0);
    }
}
