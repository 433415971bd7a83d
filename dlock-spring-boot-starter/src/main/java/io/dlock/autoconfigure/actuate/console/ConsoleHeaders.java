package io.dlock.autoconfigure.actuate.console;

import java.nio.charset.StandardCharsets;
import java.util.Map;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.util.StringUtils;

/**
 * The headers of everything that the endpoint {@code dlocks} answers while it has a
 * console. Operations of endpoints cannot set them.
 */
final class ConsoleHeaders {

	static final Map<String, String> ALL = Map.of("Content-Security-Policy",
			"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
					+ "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options", "nosniff", "Referrer-Policy", "no-referrer", "Cross-Origin-Resource-Policy",
			"same-origin", "Cache-Control", "no-store");

	private static final EndpointId DLOCKS = EndpointId.of("dlocks");

	/** Lazy: the endpoints are discovered when the application has started. */
	private final ObjectProvider<PathMappedEndpoints> endpoints;

	ConsoleHeaders(ObjectProvider<PathMappedEndpoints> endpoints) {
		this.endpoints = endpoints;
	}

	/**
	 * Whether a path may be one of the endpoint. Context paths and prefixes come before
	 * it.
	 * @param path the path of the request, encoded
	 * @return whether it contains the path of the endpoint
	 */
	boolean areFor(String path) {
		PathMappedEndpoints mapped = this.endpoints.getIfAvailable();
		String endpoint = (mapped != null) ? mapped.getPath(DLOCKS) : null;
		String plain = StringUtils.uriDecode(path.replaceAll(";[^/]*", ""), StandardCharsets.UTF_8);
		return endpoint != null && (plain.endsWith(endpoint) || plain.contains(endpoint + "/"));
	}

}
