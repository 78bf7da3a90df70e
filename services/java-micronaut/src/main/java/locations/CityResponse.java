package locations;

import io.micronaut.core.annotation.Introspected;

/** A city in the language of the request. */
@Introspected
public record CityResponse(String countryIso, long id, boolean isFeatured, String name, String regionName) {}
