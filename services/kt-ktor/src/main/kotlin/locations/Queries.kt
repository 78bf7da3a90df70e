package locations

import kotlinx.serialization.json.JsonArrayBuilder
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonObjectBuilder
import kotlinx.serialization.json.add
import kotlinx.serialization.json.addJsonObject
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import kotlinx.serialization.json.putJsonArray
import kotlinx.serialization.json.putJsonObject

private const val MAX_FEATURED = 1000 // far more than there are
private const val MAX_FOUND = 10

/** All featured cities, by country code and within a country by population. */
val featuredQuery: JsonObject = buildJsonObject {
    putJsonObject("query") { isFeatured() }
    putJsonArray("sort") {
        add("countryIso")
        addJsonObject { put("population", "desc") }
    }
    put("size", MAX_FEATURED)
}

/** The city whose geometry contains the point. */
fun containingQuery(at: Point, featured: Boolean): JsonObject = buildJsonObject {
    putJsonObject("query") {
        putJsonObject("bool") {
            putJsonArray("filter") {
                contains(at)
                if (featured) addJsonObject { isFeatured() }
            }
        }
    }
    put("size", 1)
}

/** The city with the nearest centroid. */
fun nearestQuery(at: Point, featured: Boolean): JsonObject = buildJsonObject {
    putJsonObject("query") { if (featured) isFeatured() else putJsonObject("match_all") {} }
    putJsonArray("sort") {
        addJsonObject {
            putJsonObject("_geo_distance") {
                putJsonObject("centroid") {
                    put("lat", at.lat)
                    put("lon", at.lon)
                }
                put("order", "asc")
            }
        }
    }
    put("size", 1)
}

/**
 * Cities by the beginning of their names: the exact spelling in the request's language counts most, then the same without
 * diacritics, then names in any language; large cities come before small ones of the same name.
 */
fun searchQuery(text: String, language: Language, countryIso: String?): JsonObject = buildJsonObject {
    putJsonObject("query") {
        putJsonObject("function_score") {
            putJsonObject("query") {
                putJsonObject("bool") {
                    putJsonArray("must") { nameBegins(text, language) }
                    if (countryIso != null) {
                        putJsonArray("filter") { addJsonObject { putJsonObject("term") { put("countryIso", countryIso) } } }
                    }
                }
            }
            putJsonArray("functions") {
                addJsonObject {
                    putJsonObject("field_value_factor") {
                        put("field", "population")
                        put("modifier", "ln2p")
                        put("missing", 500)
                    }
                }
            }
        }
    }
    put("size", MAX_FOUND)
}

private fun JsonObjectBuilder.isFeatured() = putJsonObject("term") { put("isFeatured", true) }

private fun JsonArrayBuilder.contains(at: Point) = addJsonObject {
    putJsonObject("geo_shape") {
        putJsonObject("geometry") {
            putJsonObject("shape") {
                put("type", "point")
                putJsonArray("coordinates") { // GeoJSON: longitude first
                    add(at.lon)
                    add(at.lat)
                }
            }
            put("relation", "intersects")
        }
    }
}

private fun JsonArrayBuilder.nameBegins(text: String, language: Language) = addJsonObject {
    putJsonObject("multi_match") {
        put("query", text)
        put("type", "bool_prefix")
        putJsonArray("fields") {
            for ((field, boost) in listOf("name.$language.autocomplete" to 8, "name.$language.autocomplete_ascii" to 4, "name.all.autocomplete" to 2, "name.all.autocomplete_ascii" to 1)) {
                for (part in listOf("", "._2gram", "._3gram")) add("$field$part^$boost")
            }
        }
    }
}
