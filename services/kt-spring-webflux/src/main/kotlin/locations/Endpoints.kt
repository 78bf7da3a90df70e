package locations

import jakarta.validation.Valid
import jakarta.validation.constraints.Max
import jakarta.validation.constraints.Min
import jakarta.validation.constraints.NotNull
import kotlinx.coroutines.delay
import org.springframework.http.HttpStatus
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.RestController
import org.springframework.web.server.ResponseStatusException

/** The parameters of a request. They are bound to one object, so that all that is wrong with them is told at once. */
data class CityQuery(
    @field:NotNull(message = "missing") val id: Long?,
    @field:NotNull(message = "missing") val language: Language?,
)

private const val BOUNDS = "want milliseconds from 0 to 10000" // well within the time that a stop leaves to a request

data class BenchmarkQuery(@field:Min(0, message = BOUNDS) @field:Max(10_000, message = BOUNDS) val delay: Long?)

@RestController
class Endpoints(private val cities: Cities) {
    @GetMapping("/")
    fun root() = mapOf("service" to "locations")

    @GetMapping("/city/v1/get")
    suspend fun city(@Valid query: CityQuery): CityResponse = cities.city(query.id!!, query.language!!)
        ?: throw ResponseStatusException(HttpStatus.NOT_FOUND, "id: there is no city ${query.id}")

    @GetMapping("/v1/benchmark")
    suspend fun benchmark(@Valid query: BenchmarkQuery) {
        delay(query.delay ?: 0) // suspends; no thread is held
    }
}
