package locations;

/** A city in the language of the request. */
public record CityResponse(String countryIso, long id, boolean isFeatured, String name, String regionName) {}
