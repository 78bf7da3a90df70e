package locations;

import io.micronaut.core.annotation.Introspected;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MediaType;
import io.micronaut.http.MutableHttpResponse;
import io.micronaut.http.client.exceptions.HttpClientException;
import io.micronaut.http.server.exceptions.ExceptionHandler;
import io.micronaut.http.server.exceptions.response.Error;
import io.micronaut.http.server.exceptions.response.ErrorContext;
import io.micronaut.http.server.exceptions.response.ErrorResponseProcessor;
import jakarta.inject.Singleton;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Whatever goes wrong becomes JSON with a message; what only the operator should know is logged. */
@Singleton
public class Problems implements ErrorResponseProcessor<Problems.Problem>, ExceptionHandler<HttpClientException, HttpResponse<?>> {
    private static final Logger log = LoggerFactory.getLogger(Problems.class);

    @Introspected
    public record Problem(String message) {}

    @Override
    public MutableHttpResponse<Problem> processResponse(ErrorContext context, MutableHttpResponse<?> response) {
        var message = context.getErrors().stream().map(Error::getMessage).collect(Collectors.joining("; "));
        return response.contentType(MediaType.APPLICATION_JSON_TYPE).body(new Problem(message.isEmpty() ? response.reason() : message));
    }

    @Override
    @SuppressWarnings("rawtypes")
    public HttpResponse<?> handle(HttpRequest request, HttpClientException e) {
        log.error("{}: {}", request.getPath(), e.toString());
        return HttpResponse.status(HttpStatus.BAD_GATEWAY).body(new Problem("store: Elasticsearch did not answer as it should"));
    }
}
