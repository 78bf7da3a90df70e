package locations

import org.springframework.stereotype.Service
import java.util.concurrent.ConcurrentHashMap

/** Cities by id. Regions, of which there are tens, are kept for ever; cities are not. */
@Service
class Cities(private val elasticsearch: Elasticsearch) {
    private val regions = ConcurrentHashMap<Long, Region>()

    /** The city in that language; null: there is none. */
    suspend fun city(id: Long, language: Language): CityResponse? = elasticsearch.city(id)?.let {
        CityResponse(it.countryIso, it.id, it.isFeatured, it.name(language), region(it.regionId).name(language))
    }

    private suspend fun region(id: Long): Region = regions.getOrPut(id) {
        elasticsearch.region(id) ?: error("the store has no region $id")
    }
}
