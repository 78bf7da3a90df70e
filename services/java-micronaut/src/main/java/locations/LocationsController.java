package locations;

import io.micronaut.core.annotation.Nullable;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.QueryValue;
import io.micronaut.http.exceptions.HttpStatusException;
import io.reactivex.rxjava3.core.Completable;
import io.reactivex.rxjava3.core.Single;
import java.util.Map;
import java.util.concurrent.TimeUnit;

@Controller
public class LocationsController {
    private final CityService cities;

    public LocationsController(CityService cities) {
        this.cities = cities;
    }

    @Get("/")
    public Map<String, String> root() {
        return Map.of("service", "locations");
    }

    @Get("/city/v1/get")
    public Single<CityResponse> city(@Nullable @QueryValue String id, @Nullable @QueryValue String language) {
        var query = CityQuery.of(id, language);
        return cities.city(query.id(), query.language())
            .switchIfEmpty(Single.error(() -> new HttpStatusException(HttpStatus.NOT_FOUND, "id: there is no city " + query.id())));
    }

    /** A timer of RxJava: no thread is held. */
    @Get("/v1/benchmark")
    public Completable benchmark(@Nullable @QueryValue String delay) {
        long ms = BenchmarkQuery.of(delay).ms();
        return ms == 0 ? Completable.complete() : Completable.timer(ms, TimeUnit.MILLISECONDS);
    }
}
