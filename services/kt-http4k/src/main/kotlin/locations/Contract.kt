package locations

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode
import org.http4k.contract.jsonschema.v3.AutoJsonToJsonSchema
import org.http4k.core.ContentType
import org.http4k.core.Filter
import org.http4k.core.HttpHandler
import org.http4k.core.Method.GET
import org.http4k.core.Request
import org.http4k.core.Response
import org.http4k.core.Status
import org.http4k.core.then
import org.http4k.core.with
import org.http4k.filter.ServerFilters
import org.http4k.format.Jackson
import org.http4k.lens.Header.CONTENT_TYPE
import org.http4k.lens.Lens
import org.http4k.lens.Meta
import org.http4k.lens.ParamMeta
import org.http4k.lens.Validator
import org.http4k.routing.RoutingHttpHandler
import org.http4k.routing.bind
import org.http4k.routing.routes

/**
 * The endpoints as contracts: all parameters are extracted before the handler runs, so that a client is told all that is
 * wrong with its request, and `/api-docs` is made of the same descriptions.
 *
 * http4k's own contract module is not published for this version (it stops at http4k 5, and its routing and renderer do not
 * run on 6), so this is the part of it that the API needs, on http4k's lenses, their descriptions and its JSON schemas.
 */
fun contractRoutes(endpoints: List<Endpoint<*>>): RoutingHttpHandler = routes(
    endpoints.map { it.path bind GET to ServerFilters.CatchLensFailure(::badRequest).then(extractAll(it.parameters)).then(it.handler) } +
        ("/api-docs" bind GET to apiDocs(endpoints)),
)

private fun extractAll(parameters: List<Lens<Request, *>>) = Filter { next ->
    { request ->
        Validator.Strict(request, parameters) // throws a LensFailure that tells all that are wrong
        next(request)
    }
}

private fun apiDocs(endpoints: List<Endpoint<*>>): HttpHandler {
    val docs by lazy { Jackson.asJsonObject(openApi(endpoints)).also(::dropNulls).toString() } // the first reflection over the schemas takes a moment
    return { Response(Status.OK).with(CONTENT_TYPE of ContentType.APPLICATION_JSON).body(docs) }
}

private fun dropNulls(node: JsonNode) {
    (node as? ObjectNode)?.removeIf { it.isNull }
    node.forEach(::dropNulls)
}

private fun openApi(endpoints: List<Endpoint<*>>) = mapOf(
    "openapi" to "3.0.0",
    "info" to mapOf("title" to "Locations", "version" to "1.0.0", "description" to "Questions about cities, answered out of Elasticsearch."),
    "paths" to endpoints.associate { it.path to mapOf("get" to it.operation()) },
    "components" to mapOf("schemas" to schemas(endpoints.mapNotNull { it.example?.second } + Problem("id: missing"))),
)

private fun schemas(examples: List<Any>) = examples.flatMap { schema(it).definitions.entries }.associate { it.toPair() }

private fun Endpoint<*>.operation() = mapOf(
    "operationId" to path.substringAfterLast('/'),
    "summary" to summary,
    "parameters" to parameters.map { it.meta.parameter() },
    "responses" to listOfNotNull(
        "200" to if (example == null) mapOf("description" to "An empty body") else json("The answer", example.second),
        "400" to json("A parameter is missing or wrong; the message names it", Problem("id: missing")),
        ("404" to json("There is no such city", Problem("id: there is no city 1"))).takeIf { missing },
    ).toMap(),
)

private fun Meta.parameter() = mapOf("name" to name, "in" to location, "required" to required, "description" to description.orEmpty(), "schema" to paramMeta.schema())

private fun ParamMeta.schema() = when (this) {
    is ParamMeta.EnumParam<*> -> mapOf("type" to "string", "enum" to clz.java.enumConstants.map { it.name })
    else -> mapOf("type" to description)
}

private fun json(description: String, example: Any) =
    mapOf("description" to description, "content" to mapOf("application/json" to mapOf("schema" to schema(example).node, "example" to example)))

private val schemaCreator = AutoJsonToJsonSchema(Jackson)

private fun schema(example: Any) = schemaCreator.toSchema(example, null, null)
