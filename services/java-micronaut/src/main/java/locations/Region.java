package locations;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.micronaut.core.annotation.Introspected;

/** What is read of a region's document. */
@Introspected
public record Region(
    @JsonProperty("name.cs") String cs,
    @JsonProperty("name.de") String de,
    @JsonProperty("name.en") String en,
    @JsonProperty("name.pl") String pl,
    @JsonProperty("name.sk") String sk
) implements Named {}
