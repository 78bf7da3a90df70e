package locations;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/** One line for each request, unless {@code ACCESS_LOG} is {@code off}. */
@Component
public class AccessLog implements WebFilter {
    private static final Logger log = LoggerFactory.getLogger(AccessLog.class);

    private final boolean off;

    public AccessLog(@Value("${ACCESS_LOG:}") String accessLog) {
        off = accessLog.equals("off");
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        if (off) {
            return chain.filter(exchange);
        }
        long start = System.nanoTime();
        return chain.filter(exchange).doFinally(how -> {
            var request = exchange.getRequest();
            var query = request.getURI().getRawQuery() == null ? "" : "?" + request.getURI().getRawQuery();
            var status = exchange.getResponse().getStatusCode();
            log.info("{} {}{} {} {}ms", request.getMethod(), request.getURI().getRawPath(), query,
                status == null ? 200 : status.value(), (System.nanoTime() - start) / 1_000_000);
        });
    }
}
