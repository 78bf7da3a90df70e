package locations;

import io.micronaut.http.annotation.Get;
import io.micronaut.http.client.annotation.Client;
import io.reactivex.rxjava3.core.Maybe;

/** Asks Elasticsearch without holding a thread; Micronaut writes the class. What the service never needs is left out: geometry is most of it. */
@Client(id = "elasticsearch")
public interface Elasticsearch {
    @Get("/city/_source/{id}?_source_excludes=geometry,population")
    Maybe<City> city(long id);

    @Get("/region/_source/{id}?_source_excludes=geometry,population")
    Maybe<Region> region(long id);
}
