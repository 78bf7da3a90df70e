package locations;

import jakarta.servlet.http.HttpServletRequest;
import java.util.Locale;
import java.util.stream.Collectors;
import org.apache.tomcat.util.http.InvalidParameterException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.MessageSource;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.validation.BindException;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.servlet.NoHandlerFoundException;

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
    public Problem parameters(BindException e) {
        var message = e.getFieldErrors().stream()
            .map(error -> error.getField() + ": " + messages.getMessage(error, Locale.ROOT))
            .sorted()
            .collect(Collectors.joining("; "));
        return new Problem(message);
    }

    @ExceptionHandler(NoHandlerFoundException.class)
    @ResponseStatus(HttpStatus.NOT_FOUND)
    public Problem path() {
        return new Problem("path: there is nothing here");
    }

    @ExceptionHandler(InvalidParameterException.class)
    @ResponseStatus(HttpStatus.BAD_REQUEST)
    public Problem query() {
        return new Problem("query string: not escaped as a URL wants it");
    }

    /** The others of Spring bring their status along. */
    @ExceptionHandler
    public ResponseEntity<Problem> others(Exception e, HttpServletRequest request) {
        if (e instanceof ErrorResponse answer) {
            return ResponseEntity.status(answer.getStatusCode()).headers(answer.getHeaders()).body(new Problem(answer.getBody().getDetail()));
        }
        log.error("{}: {}", request.getRequestURI(), e.toString());
        return ResponseEntity.status(HttpStatus.BAD_GATEWAY).body(new Problem("store: Elasticsearch did not answer as it should"));
    }
}
