package locations;

import com.kumuluz.ee.EeApplication;
import java.util.logging.Logger;

public class Main {
    private static final Logger log = Logger.getLogger("locations");

    public static void main(String[] args) {
        try {
            Store.of(System.getenv("ELASTICSEARCH_URL")).reach(); // first of all: without it there is nothing to start
            var application = new EeApplication();
            var http = application.getServer().getServerConfig().getHttp();
            Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(application)));
            log.info("locations service listening on port " + http.getPort());
        } catch (Exception e) {
            log.severe(e.getMessage());
            System.exit(1);
        }
    }

    /** A JVM that ends by SIGTERM would exit with 143, although all went as it should. */
    private static void stop(EeApplication application) {
        var code = 1;
        try {
            code = Requests.drain(12) ? 0 : 1;
            application.getServer().stopServer();
        } catch (InterruptedException | RuntimeException e) {
            log.severe("stop: " + e);
        }
        Runtime.getRuntime().halt(code);
    }
}
