package locations;

import jakarta.validation.Valid;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import java.time.Duration;
import java.util.Map;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

@RestController
@RegisterReflectionForBinding(BenchmarkController.BenchmarkQuery.class) // for the native variant
public class BenchmarkController {
    private static final String BOUNDS = "want milliseconds from 0 to 10000"; // well within the time that a stop leaves to a request

    public record BenchmarkQuery(@Min(value = 0, message = BOUNDS) @Max(value = 10_000, message = BOUNDS) Long delay) {}

    @GetMapping("/")
    public Map<String, String> root() {
        return Map.of("service", "locations");
    }

    /** A timer of Reactor: no thread is held. */
    @GetMapping("/v1/benchmark")
    public Mono<Void> benchmark(@Valid BenchmarkQuery query) {
        return query.delay() == null || query.delay() == 0 ? Mono.empty() : Mono.delay(Duration.ofMillis(query.delay())).then();
    }
}
