package locations

import com.fasterxml.jackson.annotation.JsonProperty

/** The languages of the API, by their code in the parameter `language`; each has a home country. */
@Suppress("EnumEntryName")
enum class Language(val home: String) { cs("CZ"), de("DE"), en("CZ"), pl("PL"), sk("SK") }

data class Point(val lat: Double, val lon: Double)

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

data class City(
    val id: Long,
    val countryIso: String,
    val regionId: Long,
    @param:JsonProperty("isFeatured") val isFeatured: Boolean,
    val centroid: Point,
    @param:JsonProperty("name.cs") override val cs: String,
    @param:JsonProperty("name.de") override val de: String,
    @param:JsonProperty("name.en") override val en: String,
    @param:JsonProperty("name.pl") override val pl: String,
    @param:JsonProperty("name.sk") override val sk: String,
) : Named

data class Region(
    @param:JsonProperty("name.cs") override val cs: String,
    @param:JsonProperty("name.de") override val de: String,
    @param:JsonProperty("name.en") override val en: String,
    @param:JsonProperty("name.pl") override val pl: String,
    @param:JsonProperty("name.sk") override val sk: String,
) : Named

data class CityResponse(
    val countryIso: String,
    val id: Long,
    @get:JsonProperty("isFeatured") val isFeatured: Boolean,
    val name: String,
    val regionName: String,
)

data class MultiCityResponse(val cities: List<CityResponse>)

data class Problem(val message: String)
