package locations;

import com.fasterxml.jackson.annotation.JsonProperty;

/** What is read of a region's document. */
public record Region(
    @JsonProperty("name.cs") String cs,
    @JsonProperty("name.de") String de,
    @JsonProperty("name.en") String en,
    @JsonProperty("name.pl") String pl,
    @JsonProperty("name.sk") String sk
) implements Named {}
