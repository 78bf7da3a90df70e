package locations;

import java.util.Set;
import javax.ws.rs.ApplicationPath;
import javax.ws.rs.core.Application;

/** What JAX-RS serves; there is little enough to be wired by hand. */
@ApplicationPath("/")
public class LocationsApplication extends Application {
    private final Set<Object> singletons = Set.of(
        new LocationsResource(new CityService(new Elasticsearch(Store.of(System.getenv("ELASTICSEARCH_URL"))))), new Problems());

    @Override
    public Set<Object> getSingletons() {
        return singletons;
    }
}
