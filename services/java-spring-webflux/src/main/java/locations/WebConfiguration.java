package locations;

import org.springframework.context.annotation.Configuration;
import org.springframework.http.MediaType;
import org.springframework.web.reactive.accept.RequestedContentTypeResolverBuilder;
import org.springframework.web.reactive.config.WebFluxConfigurer;

/** There is nothing to negotiate: every body is JSON. */
@Configuration(proxyBeanMethods = false)
public class WebConfiguration implements WebFluxConfigurer {
    @Override
    public void configureContentTypeResolver(RequestedContentTypeResolverBuilder resolver) {
        resolver.fixedResolver(MediaType.APPLICATION_JSON);
    }
}
