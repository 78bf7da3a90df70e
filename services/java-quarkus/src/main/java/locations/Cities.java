package locations;

import io.smallrye.mutiny.Uni;
import jakarta.inject.Singleton;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Answers questions about cities. Regions, of which there are tens, are kept for ever; cities are not. */
@Singleton
class Cities {
    private final Elasticsearch elasticsearch;
    private final Map<Long, Names> regions = new ConcurrentHashMap<>();

    Cities(Elasticsearch elasticsearch) {
        this.elasticsearch = elasticsearch;
    }

    /** The city in the language of the request; null if there is none. Fails with {@link StoreException}. */
    Uni<CityResponse> get(long id, Language language) {
        return elasticsearch.source("city", id).onItem().ifNotNull().transformToUni(city ->
            region(city.getLong("regionId")).map(region -> new CityResponse(city.getString("countryIso"), city.getLong("id"),
                city.getBoolean("isFeatured"), city.getString("name." + language), region.in(language))));
    }

    private Uni<Names> region(long id) {
        var known = regions.get(id);
        if (known != null) return Uni.createFrom().item(known);
        return elasticsearch.source("region", id)
            .onItem().ifNull().failWith(() -> new StoreException(new IllegalStateException("there is no region " + id)))
            .map(Names::of)
            .invoke(names -> regions.put(id, names));
    }
}
