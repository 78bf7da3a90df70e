package locations;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Service;
import reactor.core.publisher.Mono;

/** Cities by id. Regions, of which there are tens, are kept for ever; cities are not. */
@Service
public class CityService {
    private final Elasticsearch elasticsearch;
    private final Map<Long, Region> regions = new ConcurrentHashMap<>();

    public CityService(Elasticsearch elasticsearch) {
        this.elasticsearch = elasticsearch;
    }

    /** The city in that language; empty: there is none. */
    public Mono<CityResponse> city(long id, Language language) {
        return elasticsearch.city(id).flatMap(city -> region(city.regionId()).map(region -> new CityResponse(
            city.countryIso(), city.id(), city.isFeatured(), city.name(language), region.name(language))));
    }

    private Mono<Region> region(long id) {
        var known = regions.get(id);
        if (known != null) {
            return Mono.just(known);
        }
        return elasticsearch.region(id)
            .doOnNext(region -> regions.put(id, region))
            .switchIfEmpty(Mono.error(() -> new IllegalStateException("the store has no region " + id)));
    }
}
