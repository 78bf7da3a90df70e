package locations

import org.http4k.core.Filter
import org.http4k.core.Method.GET
import org.http4k.core.then
import org.http4k.filter.ServerFilters
import org.http4k.lens.LensFailure
import org.http4k.lens.Validator
import org.http4k.routing.RoutingHttpHandler
import org.http4k.routing.bind
import org.http4k.routing.routes

/** The endpoints by routes alone. Parameters are extracted once, by the handlers that use them. */
fun plainRoutes(endpoints: List<Endpoint<*>>): RoutingHttpHandler = routes(
    endpoints.map { it.path bind GET to ServerFilters.CatchLensFailure(::badRequest).then(it.tellAllFailures()).then(it.handler) },
)

/** A handler stops at the first parameter that is wrong; the client is told of all of them. */
private fun Endpoint<*>.tellAllFailures() = Filter { next ->
    { request ->
        try {
            next(request)
        } catch (first: LensFailure) {
            Validator.Strict(request, parameters)
            throw first
        }
    }
}
