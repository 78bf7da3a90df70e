package locations

import org.slf4j.LoggerFactory
import org.springframework.context.MessageSource
import org.springframework.http.HttpStatus
import org.springframework.http.ResponseEntity
import org.springframework.http.server.reactive.ServerHttpRequest
import org.springframework.web.ErrorResponse
import org.springframework.web.bind.annotation.ExceptionHandler
import org.springframework.web.bind.annotation.ResponseStatus
import org.springframework.web.bind.annotation.RestControllerAdvice
import org.springframework.web.bind.support.WebExchangeBindException
import java.util.Locale

data class Problem(val message: String)

private val log = LoggerFactory.getLogger("locations.Errors")

/** Whatever goes wrong becomes JSON with a message; what only the operator should know is logged. */
@RestControllerAdvice
class Errors(private val messages: MessageSource) {
    @ExceptionHandler
    @ResponseStatus(HttpStatus.BAD_REQUEST)
    fun parameters(e: WebExchangeBindException) =
        Problem(e.fieldErrors.map { "${it.field}: ${messages.getMessage(it, Locale.ROOT)}" }.sorted().joinToString("; "))

    /** The others of Spring bring their status along. */
    @ExceptionHandler
    fun others(e: Exception, request: ServerHttpRequest): ResponseEntity<Problem> {
        if (e is ErrorResponse) {
            return ResponseEntity.status(e.statusCode).headers(e.headers).body(Problem(e.body.detail ?: "path: there is nothing here"))
        }
        log.error("{}: {}", request.path, e.toString())
        return ResponseEntity.status(HttpStatus.BAD_GATEWAY).body(Problem("store: Elasticsearch did not answer as it should"))
    }
}
