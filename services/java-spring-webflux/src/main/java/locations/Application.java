package locations;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.aot.AbstractAotProcessor;
import org.springframework.core.NestedExceptionUtils;

@SpringBootApplication
public class Application {
    private static final Logger log = LoggerFactory.getLogger(Application.class);

    public static void main(String[] args) {
        var application = new SpringApplication(Application.class);
        application.setRegisterShutdownHook(false); // stop() below takes its place
        try {
            if (!Boolean.getBoolean(AbstractAotProcessor.AOT_PROCESSING)) { // the build of the native variant has no store
                Store.of(System.getenv("ELASTICSEARCH_URL")).reach(); // first of all: without it there is nothing to start
            }
            var context = application.run(args);
            Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(context)));
        } catch (SpringApplication.AbandonedRunException e) {
            throw e; // that build goes no further than to the context
        } catch (Exception e) {
            log.error("{}", NestedExceptionUtils.getMostSpecificCause(e).getMessage());
            System.exit(1);
        }
    }

    /** A JVM that ends by SIGTERM would exit with 143, although all went as it should. */
    private static void stop(ConfigurableApplicationContext context) {
        context.close(); // waits for the requests in flight
        Runtime.getRuntime().halt(0);
    }
}
