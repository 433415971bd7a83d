package io.dlock.autoconfigure.redis;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;

/**
 * The URL of a node. Messages name it by its place, because it may have a password.
 *
 * @param host the host
 * @param port the port
 * @param tls whether to use TLS
 * @param user the user, or {@code null} for the default user
 * @param password the password, or {@code null}
 * @param database the number of the database
 */
record RedisUrl(String host, int port, boolean tls, @Nullable String user, @Nullable String password, int database) {

	private static final int DEFAULT_PORT = 6379;

	private static final Pattern DATABASE = Pattern.compile("/?|/\\d{1,6}");

	/**
	 * Parse the nodes of a quorum.
	 * @param nodes the property
	 * @return the URLs, no two of the same server
	 */
	static List<RedisUrl> parse(List<String> nodes) {
		List<RedisUrl> urls = new ArrayList<>();
		Set<String> servers = new HashSet<>();
		for (int i = 0; i < nodes.size(); i++) {
			String property = "dlock.quorum.nodes[" + i + "]";
			RedisUrl url = parse(property, nodes.get(i));
			String server = url.host + ":" + url.port;
			if (!servers.add(server.toLowerCase(Locale.ROOT))) {
				throw new IllegalArgumentException(property + " is the server " + server
						+ ", which is there twice: the nodes must be different servers, whatever their databases are");
			}
			urls.add(url);
		}
		return urls;
	}

	private static RedisUrl parse(String property, String text) {
		URI uri = uri(text);
		if (uri == null) {
			throw refused(property, "is no URL");
		}
		if (!"redis".equals(uri.getScheme()) && !"rediss".equals(uri.getScheme())) {
			throw refused(property, "has another scheme");
		}
		if (uri.getHost() == null) {
			throw refused(property, "has no host, or a character that must be written as %XX");
		}
		if (!DATABASE.matcher(uri.getPath()).matches()) {
			throw refused(property, "has a database that is no number");
		}
		if (uri.getQuery() != null || uri.getFragment() != null) {
			throw refused(property, "has parameters");
		}
		String[] credentials = (uri.getRawUserInfo() != null) ? uri.getRawUserInfo().split(":", 2)
				: new String[] { "" };
		String user = (credentials.length == 2) ? decode(credentials[0]) : "";
		String password = decode(credentials[credentials.length - 1]);
		String database = uri.getPath().replace("/", "");
		return new RedisUrl(uri.getHost(), (uri.getPort() != -1) ? uri.getPort() : DEFAULT_PORT,
				uri.getScheme().equals("rediss"), user.isEmpty() ? null : user, password.isEmpty() ? null : password,
				database.isEmpty() ? 0 : Integer.parseInt(database));
	}

	private static String decode(String part) {
		return StringUtils.uriDecode(part, StandardCharsets.UTF_8);
	}

	private static @Nullable URI uri(String text) {
		try {
			return new URI(text);
		}
		catch (URISyntaxException ex) {
			// its message has the password
			return null;
		}
	}

	private static IllegalArgumentException refused(String property, String problem) {
		return new IllegalArgumentException(property + " must be like redis://user:password@host:6379/0, "
				+ "or rediss:// for TLS, but " + problem);
	}

}
