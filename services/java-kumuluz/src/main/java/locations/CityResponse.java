package locations;

import com.fasterxml.jackson.annotation.JsonProperty;

/** A city in the language of the request. */
public record CityResponse(String countryIso, long id, @JsonProperty("isFeatured") boolean isFeatured, String name, String regionName) {}
