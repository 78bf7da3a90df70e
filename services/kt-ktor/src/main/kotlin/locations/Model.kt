package locations

import kotlinx.serialization.SerialName
import kotlinx.serialization.Serializable

/** The languages of the API, by their code in the parameter `language`; each has a home country. */
@Suppress("EnumEntryName")
enum class Language(val home: String) { cs("CZ"), de("DE"), en("CZ"), pl("PL"), sk("SK") }

@Serializable
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

@Serializable
data class City(
    val id: Long,
    val countryIso: String,
    val regionId: Long,
    val isFeatured: Boolean,
    val centroid: Point,
    @SerialName("name.cs") override val cs: String,
    @SerialName("name.de") override val de: String,
    @SerialName("name.en") override val en: String,
    @SerialName("name.pl") override val pl: String,
    @SerialName("name.sk") override val sk: String,
) : Named

@Serializable
data class Region(
    @SerialName("name.cs") override val cs: String,
    @SerialName("name.de") override val de: String,
    @SerialName("name.en") override val en: String,
    @SerialName("name.pl") override val pl: String,
    @SerialName("name.sk") override val sk: String,
) : Named

@Serializable
data class CityResponse(val countryIso: String, val id: Long, val isFeatured: Boolean, val name: String, val regionName: String)

@Serializable
data class MultiCityResponse(val cities: List<CityResponse>)
