package io.dlock.test;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.awaitility.Awaitility;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import redis.embedded.core.ExecutableProvider;

/**
 * A real Redis server on the loopback interface. Locks are about what happens when a
 * server hangs, dies and returns, so the process can be paused, killed and restarted.
 * <p>
 * {@value #BINARY_PROPERTY} names another {@code redis-server} binary, and
 * {@value #URL_PROPERTY} a running server ({@code host:port}) to use as the shared one.
 */
public final class RedisServer extends LocalServer {

	private static final Pattern ACKNOWLEDGED = Pattern.compile("state=online,offset=[1-9]");

	private static final Pattern UNACKNOWLEDGED = Pattern.compile("state=(?!online)|offset=0,");

	static final String BINARY_PROPERTY = "dlock.test.redis-server";

	static final String URL_PROPERTY = "dlock.test.redis-url";

	private static final int PROBE_TIMEOUT = 1000;

	private final String host;

	private final int port;

	private RedisServer(String host, int port) {
		this.host = host;
		this.port = port;
	}

	private RedisServer(boolean shared, Map<String, String> environment, IntFunction<List<String>> arguments) {
		this.host = "127.0.0.1";
		this.port = ServerProcess.reservePort();
		Path directory = ServerProcess.newDirectory("redis");
		List<String> command = new ArrayList<>(List.of(Binary.PATH));
		command.addAll(arguments.apply(this.port));
		started(new RestartableServer(directory, "KILL", command, environment, this::ping), shared);
	}

	/**
	 * Return the server that all tests of this JVM share. It runs until the JVM ends,
	 * {@link #close()} does not stop it.
	 * @return the shared server
	 */
	public static RedisServer shared() {
		return Shared.INSTANCE;
	}

	/**
	 * Start a server of its own, for tests that break or configure it.
	 * @param extraArgs further arguments, which override the defaults
	 * @return the server
	 */
	public static RedisServer start(String... extraArgs) {
		return start(Map.of(), extraArgs);
	}

	/**
	 * Start a server of its own with more environment variables.
	 * @param environment the variables
	 * @param extraArgs further arguments, which override the defaults
	 * @return the server
	 */
	public static RedisServer start(Map<String, String> environment, String... extraArgs) {
		return start(environment, (port) -> List.of(extraArgs));
	}

	/**
	 * Start a server of its own whose arguments depend on its port.
	 * @param environment the variables
	 * @param extraArgs makes further arguments, which override the defaults
	 * @return the server
	 */
	public static RedisServer start(Map<String, String> environment, IntFunction<List<String>> extraArgs) {
		return new RedisServer(false, environment, (port) -> withDefaults(port, extraArgs.apply(port)));
	}

	/**
	 * Start a Sentinel.
	 * @param configuration the lines of its configuration, without address and port
	 * @return the Sentinel
	 */
	public static RedisServer startSentinel(List<String> configuration) {
		return startSentinel((port) -> configuration);
	}

	/**
	 * Start a Sentinel whose configuration depends on its port.
	 * @param configuration makes the lines of its configuration, without address and port
	 * @return the Sentinel
	 */
	public static RedisServer startSentinel(IntFunction<List<String>> configuration) {
		return new RedisServer(false, Map.of(), (port) -> {
			List<String> lines = new ArrayList<>(List.of("bind 127.0.0.1", "port " + port));
			lines.addAll(configuration.apply(port));
			Path file = ServerProcess.newDirectory("redis-sentinel").resolve("sentinel.conf");
			ServerProcess.unlessExiting(() -> Files.write(file, lines));
			return List.of(file.toString(), "--sentinel");
		});
	}

	/**
	 * Reserve another port for a server, such as that for TLS of a node of a cluster,
	 * which has its second port above that one.
	 * @return the port
	 */
	public static int reservePort() {
		return ServerProcess.reservePort();
	}

	/**
	 * The major version of the binary, which tells the arguments that it knows.
	 * @return the number, such as 6; Valkey counts on from Redis 7
	 */
	public static int majorVersion() {
		return Binary.MAJOR;
	}

	private static List<String> withDefaults(int port, List<String> extraArgs) {
		List<String> arguments = new ArrayList<>(
				List.of("--bind", "127.0.0.1", "--port", Integer.toString(port), "--save", "", "--appendonly", "no"));
		arguments.addAll(extraArgs);
		return arguments;
	}

	/**
	 * Wait until the replicas acknowledge what they receive. From Redis 7 on that is up
	 * to a second after they are online.
	 */
	public void awaitReplicas() {
		RedisStandaloneConfiguration server = new RedisStandaloneConfiguration(host(), port());
		Awaitility.await().until(() -> {
			LettuceFactories.call(server, "PUBLISH", "replicated", "?");
			String replication = LettuceFactories.call(server, "INFO", "replication");
			return ACKNOWLEDGED.matcher(replication).find() && !UNACKNOWLEDGED.matcher(replication).find();
		});
	}

	public String host() {
		return this.host;
	}

	public int port() {
		return this.port;
	}

	private void ping() throws IOException {
		try (Socket socket = new Socket()) {
			socket.connect(new InetSocketAddress(this.host, this.port), PROBE_TIMEOUT);
			socket.setSoTimeout(PROBE_TIMEOUT);
			socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
			String reply = new String(socket.getInputStream().readNBytes(5), StandardCharsets.US_ASCII);
			if (!reply.equals("+PONG") && !reply.equals("-NOAU")) {
				throw new IOException("Not ready: " + reply);
			}
		}
	}

	private static final class Shared {

		static final RedisServer INSTANCE = create();

		private static RedisServer create() {
			String url = System.getProperty(URL_PROPERTY);
			if (url == null) {
				return new RedisServer(true, Map.of(), (port) -> withDefaults(port, List.of()));
			}
			int colon = url.lastIndexOf(':');
			return new RedisServer(url.substring(0, colon), Integer.parseInt(url.substring(colon + 1)));
		}

	}

	private static final class Binary {

		private static final Pattern VERSION = Pattern.compile(" v=(\\d+)\\.");

		static final String PATH = find();

		static final int MAJOR = ServerProcess.unlessExiting(Binary::major);

		private static String find() {
			String path = System.getProperty(BINARY_PROPERTY);
			if (path != null) {
				return path;
			}
			Path directory = ServerProcess.newDirectory("redis-binary");
			return ServerProcess.unlessExiting(ExecutableProvider.newJarResourceProvider(directory.toFile())::get)
				.getAbsolutePath();
		}

		private static int major() throws IOException {
			Process process = new ProcessBuilder(PATH, "--version").redirectErrorStream(true).start();
			String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
			Matcher version = VERSION.matcher(text);
			if (!version.find()) {
				throw new IOException(PATH + " does not tell its version: " + text);
			}
			return Integer.parseInt(version.group(1));
		}

	}

}
