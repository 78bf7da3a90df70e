package locations;

import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.MessageSource;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.bind.support.WebExchangeBindException;

/** Whatever goes wrong becomes JSON with a message; what only the operator should know is logged. */
@RestControllerAdvice
public class Errors {
    private static final Logger log = LoggerFactory.getLogger(Errors.class);

    private final MessageSource messages;

    public Errors(MessageSource messages) {
        this.messages = messages;
    }

    public record Problem(String message) {}

    @ExceptionHandler
    @ResponseStatus(HttpStatus.BAD_REQUEST)
    public Problem parameters(WebExchangeBindException e) {
        var message = e.getFieldErrors().stream()
            .map(error -> error.getField() + ": " + messages.getMessage(error, Locale.ROOT))
            .sorted()
            .collect(Collectors.joining("; "));
        return new Problem(message);
    }

    /** The others of Spring bring their status along. */
    @ExceptionHandler
    public ResponseEntity<Problem> others(Exception e, ServerHttpRequest request) {
        if (e instanceof ErrorResponse answer) {
            var message = Objects.requireNonNullElse(answer.getBody().getDetail(), "path: there is nothing here");
            return ResponseEntity.status(answer.getStatusCode()).headers(answer.getHeaders()).body(new Problem(message));
        }
        log.error("{}: {}", request.getPath(), e.toString());
        return ResponseEntity.status(HttpStatus.BAD_GATEWAY).body(new Problem("store: Elasticsearch did not answer as it should"));
    }
}
