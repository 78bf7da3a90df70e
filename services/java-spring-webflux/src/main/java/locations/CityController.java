package locations;

import jakarta.validation.Valid;
import jakarta.validation.constraints.NotNull;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.publisher.Mono;

@RestController
@RegisterReflectionForBinding(CityController.CityQuery.class) // for the native variant
public class CityController {
    private final CityService cities;

    public CityController(CityService cities) {
        this.cities = cities;
    }

    /** The parameters of a request. They are bound to one object, so that all that is wrong with them is told at once. */
    public record CityQuery(@NotNull(message = "missing") Long id, @NotNull(message = "missing") Language language) {}

    @GetMapping("/city/v1/get")
    public Mono<CityResponse> city(@Valid CityQuery query) {
        return cities.city(query.id(), query.language())
            .switchIfEmpty(Mono.error(() -> new ResponseStatusException(HttpStatus.NOT_FOUND, "id: there is no city " + query.id())));
    }
}
