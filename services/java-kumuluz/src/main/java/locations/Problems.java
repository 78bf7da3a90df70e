package locations;

import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.logging.Logger;
import javax.ws.rs.WebApplicationException;
import javax.ws.rs.core.MediaType;
import javax.ws.rs.core.Response;
import javax.ws.rs.ext.ExceptionMapper;
import javax.ws.rs.ext.Provider;

/** Whatever goes wrong becomes JSON with a message; what only the operator should know is logged. */
@Provider
public class Problems implements ExceptionMapper<Throwable> {
    private static final Logger log = Logger.getLogger("locations");

    @Override
    public Response toResponse(Throwable e) {
        if (e instanceof CompletionException && e.getCause() != null) {
            return toResponse(e.getCause());
        }
        if (e instanceof WebApplicationException answer) {
            return problem(answer.getResponse().getStatus(), answer.getMessage());
        }
        log.severe(e.toString());
        return problem(502, "store: Elasticsearch did not answer as it should");
    }

    private static Response problem(int status, String message) {
        return Response.status(status).type(MediaType.APPLICATION_JSON_TYPE).entity(Map.of("message", message)).build();
    }
}
