package locations;

import java.io.IOException;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.logging.Logger;
import javax.servlet.AsyncEvent;
import javax.servlet.AsyncListener;
import javax.servlet.FilterChain;
import javax.servlet.FilterConfig;
import javax.servlet.ServletException;
import javax.servlet.annotation.WebFilter;
import javax.servlet.http.HttpFilter;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.eclipse.jetty.server.handler.ContextHandler;

/** Logs a line for each request, and lets those in flight finish before a stop: KumuluzEE would break them off. */
@WebFilter(urlPatterns = "/*", asyncSupported = true)
public class Requests extends HttpFilter {
    private static final Logger log = Logger.getLogger(Requests.class.getName());
    private static final boolean accessLog = !"off".equals(System.getenv("ACCESS_LOG"));
    private static final Phaser inFlight = new Phaser(1); // the one is drain itself
    private static volatile boolean stopping;

    /** Turns new requests away and waits for the others; false if they took longer. */
    static boolean drain(long seconds) throws InterruptedException {
        stopping = true;
        try {
            inFlight.awaitAdvanceInterruptibly(inFlight.arrive(), seconds, TimeUnit.SECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        }
    }

    /** Leaves it to Main when Jetty stops. */
    @Override
    public void init(FilterConfig config) {
        ContextHandler.getContextHandler(config.getServletContext()).getServer().setStopAtShutdown(false);
    }

    @Override
    protected void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain) throws IOException, ServletException {
        if (stopping) {
            response.setHeader("Connection", "close");
            response.setStatus(HttpServletResponse.SC_SERVICE_UNAVAILABLE);
            response.setContentType("application/json");
            response.getWriter().print("{\"message\":\"service: it is stopping\"}");
            return;
        }
        var ended = new Ended(request, response, System.nanoTime());
        inFlight.register();
        try {
            chain.doFilter(request, response);
        } finally {
            if (request.isAsyncStarted()) {
                request.getAsyncContext().addListener(ended);
            } else {
                ended.onComplete(null);
            }
        }
    }

    private record Ended(HttpServletRequest request, HttpServletResponse response, long start) implements AsyncListener {
        @Override
        public void onComplete(AsyncEvent event) {
            if (accessLog) {
                var query = request.getQueryString() == null ? "" : "?" + request.getQueryString();
                log.info(request.getMethod() + " " + request.getRequestURI() + query + " " + response.getStatus() + " " + (System.nanoTime() - start) / 1_000_000 + "ms");
            }
            inFlight.arriveAndDeregister();
        }

        @Override
        public void onTimeout(AsyncEvent event) {}

        @Override
        public void onError(AsyncEvent event) {}

        @Override
        public void onStartAsync(AsyncEvent event) {}
    }
}
