package locations

private const val MAX_FEATURED = 1000 // far more than there are
private const val MAX_FOUND = 10

private val isFeatured = mapOf("term" to mapOf("isFeatured" to true))

/** All featured cities, by country code and within a country by population. */
val featuredQuery = mapOf(
    "query" to isFeatured,
    "sort" to listOf("countryIso", mapOf("population" to "desc")),
    "size" to MAX_FEATURED,
)

/** The city whose geometry contains the point. */
fun containingQuery(at: Point, featured: Boolean): Map<String, Any> {
    val shape = mapOf("type" to "point", "coordinates" to listOf(at.lon, at.lat)) // GeoJSON: longitude first
    val contains = mapOf("geo_shape" to mapOf("geometry" to mapOf("shape" to shape, "relation" to "intersects")))
    return mapOf("query" to mapOf("bool" to mapOf("filter" to listOfNotNull(contains, isFeatured.takeIf { featured }))), "size" to 1)
}

/** The city with the nearest centroid. */
fun nearestQuery(at: Point, featured: Boolean) = mapOf(
    "query" to if (featured) isFeatured else mapOf("match_all" to emptyMap<String, Any>()),
    "sort" to listOf(mapOf("_geo_distance" to mapOf("centroid" to at, "order" to "asc"))),
    "size" to 1,
)

/**
 * Cities by the beginning of their names: the exact spelling in the request's language counts most, then the same without
 * diacritics, then names in any language; large cities come before small ones of the same name.
 */
fun searchQuery(text: String, language: Language, countryIso: String?): Map<String, Any> {
    val boosts = mapOf(
        "name.$language.autocomplete" to 8,
        "name.$language.autocomplete_ascii" to 4,
        "name.all.autocomplete" to 2,
        "name.all.autocomplete_ascii" to 1,
    )
    val fields = boosts.flatMap { (field, boost) -> listOf("", "._2gram", "._3gram").map { "$field$it^$boost" } }
    val must = mapOf("multi_match" to mapOf("query" to text, "type" to "bool_prefix", "fields" to fields))
    val filter = listOfNotNull(countryIso?.let { mapOf("term" to mapOf("countryIso" to it)) })
    val population = mapOf("field" to "population", "modifier" to "ln2p", "missing" to 500)
    return mapOf(
        "query" to mapOf(
            "function_score" to mapOf(
                "query" to mapOf("bool" to mapOf("must" to must, "filter" to filter)),
                "functions" to listOf(mapOf("field_value_factor" to population)),
            ),
        ),
        "size" to MAX_FOUND,
    )
}
