package locations;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Service;

/** Cities by id. Regions, of which there are tens, are kept for ever; cities are not. */
@Service
public class CityService {
    private final Elasticsearch elasticsearch;
    private final Map<Long, Region> regions = new ConcurrentHashMap<>();

    public CityService(Elasticsearch elasticsearch) {
        this.elasticsearch = elasticsearch;
    }

    public Optional<CityResponse> city(long id, Language language) {
        return elasticsearch.city(id).map(city -> new CityResponse(
            city.countryIso(), city.id(), city.isFeatured(), city.name(language), region(city.regionId()).name(language)));
    }

    private Region region(long id) {
        var known = regions.get(id);
        if (known != null) {
            return known;
        }
        var region = elasticsearch.region(id).orElseThrow(() -> new IllegalStateException("the store has no region " + id));
        regions.put(id, region);
        return region;
    }
}
