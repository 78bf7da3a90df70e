package locations;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.micronaut.core.annotation.Introspected;

/** What is read of a city's document. */
@Introspected
public record City(
    long id,
    String countryIso,
    long regionId,
    boolean isFeatured,
    @JsonProperty("name.cs") String cs,
    @JsonProperty("name.de") String de,
    @JsonProperty("name.en") String en,
    @JsonProperty("name.pl") String pl,
    @JsonProperty("name.sk") String sk
) implements Named {}
