package locations

import java.util.concurrent.ConcurrentHashMap

/** Answers questions about cities. Regions, of which there are tens, are kept for ever; cities are not. */
class Cities(private val elasticsearch: Elasticsearch) {
    private val regions = ConcurrentHashMap<Long, Region>()

    fun byId(id: Long): City? = elasticsearch.city(id)

    /** All featured cities, those of the language's home country first. */
    fun featured(language: Language): List<City> =
        elasticsearch.cities(featuredQuery).sortedBy { it.countryIso != language.home } // the sort is stable

    /** The largest featured city of the language's home country. */
    fun home(language: Language): City? = featured(language).firstOrNull()?.takeIf { it.countryIso == language.home }

    /** The city around the point, else the one nearest to it. */
    fun at(point: Point, featured: Boolean): City? =
        elasticsearch.cities(containingQuery(point, featured)).firstOrNull() ?: nearest(point, featured)

    /** The city itself if it is featured, else the featured one nearest to it. */
    fun associatedFeatured(id: Long): City? = byId(id)?.let { if (it.isFeatured) it else nearest(it.centroid, featured = true) }

    fun search(text: String, language: Language, countryIso: String?): List<City> =
        elasticsearch.cities(searchQuery(text, language, countryIso))

    /** The city in the language of the request. */
    fun answer(city: City, language: Language) =
        CityResponse(city.countryIso, city.id, city.isFeatured, city.name(language), region(city.regionId).name(language))

    private fun nearest(point: Point, featured: Boolean): City? = elasticsearch.cities(nearestQuery(point, featured)).firstOrNull()

    private fun region(id: Long): Region = regions.getOrPut(id) {
        elasticsearch.region(id) ?: throw ElasticsearchException("there is no region $id")
    }
}
