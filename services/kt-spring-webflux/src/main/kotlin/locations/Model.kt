package locations

import com.fasterxml.jackson.annotation.JsonProperty

/** The languages of the API, by their code in the parameter `language`. */
@Suppress("EnumEntryName")
enum class Language { cs, de, en, pl, sk }

/** The names of a place, as Elasticsearch has them: flat keys with a dot. */
interface Named {
    val cs: String
    val de: String
    val en: String
    val pl: String
    val sk: String

    fun name(language: Language) = when (language) {
        Language.cs -> cs
        Language.de -> de
        Language.en -> en
        Language.pl -> pl
        Language.sk -> sk
    }
}

/** What is read of a city's document. */
data class City(
    val id: Long,
    val countryIso: String,
    val regionId: Long,
    @get:JsonProperty("isFeatured") val isFeatured: Boolean,
    @JsonProperty("name.cs") override val cs: String,
    @JsonProperty("name.de") override val de: String,
    @JsonProperty("name.en") override val en: String,
    @JsonProperty("name.pl") override val pl: String,
    @JsonProperty("name.sk") override val sk: String,
) : Named

/** What is read of a region's document. */
data class Region(
    @JsonProperty("name.cs") override val cs: String,
    @JsonProperty("name.de") override val de: String,
    @JsonProperty("name.en") override val en: String,
    @JsonProperty("name.pl") override val pl: String,
    @JsonProperty("name.sk") override val sk: String,
) : Named

/** A city in the language of the request. */
data class CityResponse(
    val countryIso: String,
    val id: Long,
    @get:JsonProperty("isFeatured") val isFeatured: Boolean,
    val name: String,
    val regionName: String,
)
