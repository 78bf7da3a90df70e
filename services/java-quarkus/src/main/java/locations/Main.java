package locations;

import io.quarkus.runtime.ApplicationLifecycleManager;
import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.annotations.QuarkusMain;

/** Runs Quarkus, and lets its main thread have the last word: a JVM that ends by SIGTERM would exit with 143, although all went as it should. */
@QuarkusMain
public class Main {
    public static void main(String... args) {
        var main = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                main.join(); // it ends by the halt below, when Quarkus has stopped
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }));
        ApplicationLifecycleManager.setDefaultExitCodeHandler((code, cause) -> Runtime.getRuntime().halt(code));
        Quarkus.run(args);
    }
}
