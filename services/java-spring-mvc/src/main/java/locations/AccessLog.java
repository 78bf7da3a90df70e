package locations;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/** One line for each request, unless {@code ACCESS_LOG} is {@code off}. */
@Component
public class AccessLog extends OncePerRequestFilter {
    private static final Logger log = LoggerFactory.getLogger(AccessLog.class);

    private final boolean off;

    public AccessLog(@Value("${ACCESS_LOG:}") String accessLog) {
        off = accessLog.equals("off");
    }

    @Override
    protected boolean shouldNotFilter(HttpServletRequest request) {
        return off;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain) throws ServletException, IOException {
        long start = System.nanoTime();
        try {
            chain.doFilter(request, response);
        } finally {
            var query = request.getQueryString() == null ? "" : "?" + request.getQueryString();
            log.info("{} {}{} {} {}ms", request.getMethod(), request.getRequestURI(), query, response.getStatus(), (System.nanoTime() - start) / 1_000_000);
        }
    }
}
