package io.dlock.autoconfigure.actuate.console;

import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.server.WebFilter;

/**
 * The headers of the console in the context that serves the endpoints: that of the
 * application, or the one of the management port.
 */
@ManagementContextConfiguration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty("dlock.console.enabled")
@Import({ ConsoleHeadersConfiguration.Servlet.class, ConsoleHeadersConfiguration.Reactive.class })
final class ConsoleHeadersConfiguration {

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(Filter.class)
	@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
	static class Servlet {

		@Bean
		Filter dlocksConsoleHeaders(ObjectProvider<PathMappedEndpoints> endpoints) {
			ConsoleHeaders headers = new ConsoleHeaders(endpoints);
			return (request, response, chain) -> {
				if (request instanceof HttpServletRequest http && response instanceof HttpServletResponse answer
						&& headers.areFor(http.getRequestURI())) {
					ConsoleHeaders.ALL.forEach(answer::setHeader);
				}
				chain.doFilter(request, response);
			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(WebFilter.class)
	@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
	static class Reactive {

		@Bean
		WebFilter dlocksConsoleHeaders(ObjectProvider<PathMappedEndpoints> endpoints) {
			ConsoleHeaders headers = new ConsoleHeaders(endpoints);
			return (exchange, chain) -> {
				if (headers.areFor(exchange.getRequest().getPath().value())) {
					ConsoleHeaders.ALL.forEach(exchange.getResponse().getHeaders()::set);
				}
				return chain.filter(exchange);
			};
		}

	}

}
