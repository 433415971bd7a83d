package io.dlock.autoconfigure.actuate.console;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.InvocationContext;
import org.springframework.boot.actuate.endpoint.OperationType;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.web.ExposableWebEndpoint;
import org.springframework.boot.actuate.endpoint.web.WebEndpointsSupplier;
import org.springframework.boot.actuate.endpoint.web.WebOperation;
import org.springframework.boot.actuate.endpoint.web.WebOperationRequestPredicate;

/**
 * Adds the console to the links of {@code /actuator}. Without it they have a template
 * only, {@code dlocks/{file}}, because the file is a selector.
 */
final class ConsoleLink implements WebEndpointsSupplier {

	private static final EndpointId DLOCKS = EndpointId.of("dlocks");

	private static final String PAGE = "console";

	private static final String SELECTOR = "{file}";

	private final WebEndpointsSupplier endpoints;

	ConsoleLink(WebEndpointsSupplier endpoints) {
		this.endpoints = endpoints;
	}

	@Override
	public Collection<ExposableWebEndpoint> getEndpoints() {
		return this.endpoints.getEndpoints()
			.stream()
			.map((endpoint) -> endpoint.getEndpointId().equals(DLOCKS) ? withConsole(endpoint) : endpoint)
			.toList();
	}

	private static ExposableWebEndpoint withConsole(ExposableWebEndpoint endpoint) {
		Stream<WebOperation> page = endpoint.getOperations()
			.stream()
			.filter((operation) -> operation.getRequestPredicate().getPath().endsWith("/" + SELECTOR))
			.map(Page::new);
		return new Endpoint(endpoint, Stream.concat(endpoint.getOperations().stream(), page).toList());
	}

	private record Endpoint(ExposableWebEndpoint endpoint,
			List<WebOperation> operations) implements ExposableWebEndpoint {

		@Override
		public EndpointId getEndpointId() {
			return this.endpoint.getEndpointId();
		}

		@Override
		public Access getDefaultAccess() {
			return this.endpoint.getDefaultAccess();
		}

		@Override
		public Collection<WebOperation> getOperations() {
			return this.operations;
		}

		@Override
		public String getRootPath() {
			return this.endpoint.getRootPath();
		}

	}

	/**
	 * The operation that serves the files of the console, for its page.
	 */
	private record Page(WebOperation files) implements WebOperation {

		@Override
		public String getId() {
			return DLOCKS + "-" + PAGE;
		}

		@Override
		public boolean isBlocking() {
			return this.files.isBlocking();
		}

		@Override
		public WebOperationRequestPredicate getRequestPredicate() {
			WebOperationRequestPredicate files = this.files.getRequestPredicate();
			return new WebOperationRequestPredicate(files.getPath().replace(SELECTOR, PAGE), files.getHttpMethod(),
					files.getConsumes(), files.getProduces());
		}

		@Override
		public OperationType getType() {
			return this.files.getType();
		}

		@Override
		public @Nullable Object invoke(InvocationContext context) {
			SecurityContext caller = context.resolveArgument(SecurityContext.class);
			return this.files
				.invoke(new InvocationContext((caller != null) ? caller : SecurityContext.NONE, Map.of("file", PAGE)));
		}

	}

}
