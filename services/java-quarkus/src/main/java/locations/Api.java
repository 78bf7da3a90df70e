package locations;

import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Response;
import java.time.Duration;
import java.util.Map;
import org.jboss.resteasy.reactive.RestQuery;

/** The endpoints. All of them are non-blocking, so Quarkus runs them on the event loops of Vert.x. */
@Path("/")
public class Api {
    private final Cities cities;

    Api(Cities cities) {
        this.cities = cities;
    }

    @GET
    public Uni<Map<String, String>> root() {
        return Uni.createFrom().item(Map.of("service", "locations"));
    }

    @GET
    @Path("/city/v1/get")
    public Uni<CityResponse> city(@RestQuery String id, @RestQuery String language) {
        var params = new Params();
        long cityId = params.id(id);
        var names = params.language(language);
        params.check();
        return cities.get(cityId, names).onItem().ifNull().failWith(() -> new Problem(404, "id: there is no city " + cityId));
    }

    @GET
    @Path("/v1/benchmark")
    public Uni<Response> benchmark(@RestQuery String delay) {
        var params = new Params();
        int millis = params.delayMillis(delay);
        params.check();
        var answer = Uni.createFrom().item(() -> Response.ok().build());
        return millis == 0 ? answer : answer.onItem().delayIt().by(Duration.ofMillis(millis)); // a timer: no thread is held
    }
}
