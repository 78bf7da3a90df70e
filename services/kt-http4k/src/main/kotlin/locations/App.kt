package locations

import org.http4k.core.Filter
import org.http4k.core.HttpHandler
import org.http4k.core.Method.GET
import org.http4k.core.Request
import org.http4k.core.Response
import org.http4k.core.Status
import org.http4k.core.then
import org.http4k.core.with
import org.http4k.filter.ResponseFilters
import org.http4k.lens.Invalid
import org.http4k.lens.LensFailure
import org.http4k.lens.Missing
import org.http4k.routing.bind
import org.http4k.routing.routes
import org.slf4j.LoggerFactory

private val log = LoggerFactory.getLogger("locations")

/** The whole service as one function, whatever server runs it. */
fun app(cities: Cities, contract: Boolean, accessLog: Boolean): HttpHandler {
    val endpoints = endpoints(cities)
    val all = routes(
        "/" bind GET to { _: Request -> Response(Status.OK).with(problem of Problem("the locations service; see /api-docs")) },
        if (contract) contractRoutes(endpoints) else plainRoutes(endpoints),
    )
    val answers = jsonErrors.then(all)
    return if (accessLog) requestLog.then(answers) else answers
}

private val requestLog = ResponseFilters.ReportHttpTransaction { tx ->
    log.info("{} {} {} {}ms", tx.request.method, tx.request.uri, tx.response.status.code, tx.duration.toMillis())
}

/** Whatever goes wrong becomes JSON with a message; what only the operator should know is logged. */
private val jsonErrors = Filter { next ->
    { request ->
        try {
            val response = next(request)
            when (response.status) {
                Status.NOT_FOUND if response.body.length == 0L -> problem(Status.NOT_FOUND, "path: there is nothing here; see /api-docs")
                Status.METHOD_NOT_ALLOWED -> problem(Status.METHOD_NOT_ALLOWED, "method: only GET is served here")
                else -> response
            }
        } catch (e: Exception) {
            log.error("{}: {}", request.uri.path, e.toString())
            problem(Status.BAD_GATEWAY, "store: Elasticsearch did not answer as it should")
        }
    }
}

fun badRequest(e: LensFailure): Response = problem(
    Status.BAD_REQUEST,
    e.failures.joinToString("; ") {
        when (it) {
            is Missing -> "${it.meta.name}: missing"
            is Invalid -> "${it.meta.name}: not valid"
            else -> it.toString()
        }
    },
)
