package locations;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import javax.ws.rs.GET;
import javax.ws.rs.NotFoundException;
import javax.ws.rs.Path;
import javax.ws.rs.Produces;
import javax.ws.rs.QueryParam;
import javax.ws.rs.container.AsyncResponse;
import javax.ws.rs.container.Suspended;
import javax.ws.rs.core.MediaType;
import javax.ws.rs.core.Response;

@Path("/")
@Produces(MediaType.APPLICATION_JSON)
public class LocationsResource {
    private final CityService cities;

    public LocationsResource(CityService cities) {
        this.cities = cities;
    }

    @GET
    public Map<String, String> root() {
        return Map.of("service", "locations");
    }

    // Not by a CompletionStage: Jersey would take the type of the entity from it, which Jackson refuses.
    @GET
    @Path("city/v1/get")
    public void city(@QueryParam("id") String id, @QueryParam("language") String language, @Suspended AsyncResponse answer) {
        var query = CityQuery.of(id, language);
        cities.city(query.id(), query.language())
            .thenApply(found -> found.orElseThrow(() -> new NotFoundException("id: there is no city " + query.id())))
            .thenAccept(answer::resume)
            .exceptionally(e -> {
                answer.resume(e);
                return null;
            });
    }

    /** A timer of the JDK: no thread is held. */
    @GET
    @Path("v1/benchmark")
    public CompletionStage<Response> benchmark(@QueryParam("delay") String delay) {
        long ms = BenchmarkQuery.of(delay).ms();
        var ok = Response.ok().build();
        return ms == 0
            ? CompletableFuture.completedFuture(ok)
            : CompletableFuture.supplyAsync(() -> ok, CompletableFuture.delayedExecutor(ms, TimeUnit.MILLISECONDS));
    }
}
