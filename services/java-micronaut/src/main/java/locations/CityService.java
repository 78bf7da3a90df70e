package locations;

import io.micronaut.http.HttpStatus;
import io.micronaut.http.client.exceptions.HttpClientException;
import io.micronaut.http.client.exceptions.HttpClientResponseException;
import io.reactivex.rxjava3.core.Maybe;
import io.reactivex.rxjava3.core.Single;
import jakarta.inject.Singleton;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Cities by id. Regions, of which there are tens, are kept for ever; cities are not. */
@Singleton
public class CityService {
    private final Elasticsearch elasticsearch;
    private final Map<Long, Region> regions = new ConcurrentHashMap<>();

    public CityService(Elasticsearch elasticsearch) {
        this.elasticsearch = elasticsearch;
    }

    /** The city in that language; empty: there is none. */
    public Maybe<CityResponse> city(long id, Language language) {
        return found(elasticsearch.city(id)).flatMapSingle(city -> region(city.regionId()).map(region -> new CityResponse(
            city.countryIso(), city.id(), city.isFeatured(), city.name(language), region.name(language))));
    }

    private Single<Region> region(long id) {
        var known = regions.get(id);
        if (known != null) {
            return Single.just(known);
        }
        return found(elasticsearch.region(id))
            .doOnSuccess(region -> regions.put(id, region))
            .switchIfEmpty(Single.error(() -> new HttpClientException("the store has no region " + id)));
    }

    /** A document that is not there is no error. */
    private static <T> Maybe<T> found(Maybe<T> answer) {
        return answer.onErrorComplete(e -> e instanceof HttpClientResponseException response && response.getStatus() == HttpStatus.NOT_FOUND);
    }
}
