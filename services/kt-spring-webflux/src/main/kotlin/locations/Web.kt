package locations

import org.slf4j.LoggerFactory
import org.springframework.beans.factory.annotation.Value
import org.springframework.context.annotation.Configuration
import org.springframework.http.MediaType
import org.springframework.stereotype.Component
import org.springframework.web.reactive.accept.RequestedContentTypeResolverBuilder
import org.springframework.web.reactive.config.WebFluxConfigurer
import org.springframework.web.server.ServerWebExchange
import org.springframework.web.server.WebFilter
import org.springframework.web.server.WebFilterChain
import reactor.core.publisher.Mono
import kotlin.time.TimeSource

/** There is nothing to negotiate: every body is JSON. */
@Configuration(proxyBeanMethods = false)
class WebConfiguration : WebFluxConfigurer {
    override fun configureContentTypeResolver(builder: RequestedContentTypeResolverBuilder) {
        builder.fixedResolver(MediaType.APPLICATION_JSON)
    }
}

/** One line for each request, unless `ACCESS_LOG` is `off`. */
@Component
class AccessLog(@Value("\${ACCESS_LOG:}") accessLog: String) : WebFilter {
    private val log = LoggerFactory.getLogger(AccessLog::class.java)
    private val off = accessLog == "off"

    override fun filter(exchange: ServerWebExchange, chain: WebFilterChain): Mono<Void> {
        if (off) return chain.filter(exchange)
        val start = TimeSource.Monotonic.markNow()
        return chain.filter(exchange).doFinally {
            val uri = exchange.request.uri
            val query = uri.rawQuery?.let { "?$it" }.orEmpty()
            log.info(
                "{} {}{} {} {}ms", exchange.request.method, uri.rawPath, query,
                exchange.response.statusCode?.value() ?: 200, start.elapsedNow().inWholeMilliseconds,
            )
        }
    }
}
