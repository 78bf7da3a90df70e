package locations;

import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.MediaType;
import java.util.Map;
import org.jboss.logging.Logger;
import org.jboss.resteasy.reactive.RestResponse;
import org.jboss.resteasy.reactive.server.ServerExceptionMapper;

/** Whatever goes wrong becomes JSON with a message; what only the operator should know is logged. */
class Problems {
    private static final Logger log = Logger.getLogger("locations");

    @ServerExceptionMapper
    RestResponse<Map<String, String>> problem(Problem problem) {
        return answer(problem.status, problem.getMessage());
    }

    @ServerExceptionMapper
    RestResponse<Map<String, String>> store(StoreException e) {
        log.error(e.getMessage());
        return answer(502, "store: Elasticsearch did not answer as it should");
    }

    /** What Quarkus itself turns down: unknown paths and other methods. */
    @ServerExceptionMapper
    RestResponse<Map<String, String>> refused(WebApplicationException e) {
        int status = e.getResponse().getStatus();
        return answer(status, switch (status) {
            case 404 -> "path: there is nothing here";
            case 405 -> "method: only GET is served here";
            default -> "request: " + e.getMessage();
        });
    }

    private static RestResponse<Map<String, String>> answer(int status, String message) {
        return RestResponse.ResponseBuilder.<Map<String, String>>create(status)
            .type(MediaType.APPLICATION_JSON_TYPE)
            .entity(Map.of("message", message))
            .build();
    }
}
