package locations;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** Cities by id. Regions, of which there are tens, are kept for ever; cities are not. */
public class CityService {
    private final Elasticsearch elasticsearch;
    private final Map<Long, Region> regions = new ConcurrentHashMap<>();

    public CityService(Elasticsearch elasticsearch) {
        this.elasticsearch = elasticsearch;
    }

    /** The city in that language, if there is one. */
    public CompletableFuture<Optional<CityResponse>> city(long id, Language language) {
        return elasticsearch.city(id).thenCompose(found -> found.isEmpty()
            ? CompletableFuture.completedFuture(Optional.empty())
            : answer(found.get(), language).thenApply(Optional::of));
    }

    private CompletableFuture<CityResponse> answer(City city, Language language) {
        return region(city.regionId()).thenApply(region -> new CityResponse(
            city.countryIso(), city.id(), city.isFeatured(), city.name(language), region.name(language)));
    }

    private CompletableFuture<Region> region(long id) {
        var known = regions.get(id);
        if (known != null) {
            return CompletableFuture.completedFuture(known);
        }
        return elasticsearch.region(id).thenApply(found -> {
            var region = found.orElseThrow(() -> new IllegalStateException("the store has no region " + id));
            regions.put(id, region);
            return region;
        });
    }
}
