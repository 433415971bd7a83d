package io.dlock.test;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link TcpProxy}.
 */
@Timeout(60)
class TcpProxyTests {

	private final RedisServer redis = RedisServer.shared();

	private final TcpProxy proxy = TcpProxy.to(this.redis.host(), this.redis.port());

	/** Through the proxy. */
	private Client client;

	/** Past the proxy. */
	private Client direct;

	@BeforeEach
	void connect() throws IOException {
		this.client = new Client(this.proxy.port());
		this.direct = new Client(this.redis.port());
	}

	@AfterEach
	void close() throws IOException {
		this.client.close();
		this.direct.close();
		this.proxy.close();
	}

	@Test
	void countsOneRoundTripForEachRequest() throws IOException {
		assertThat(this.client.call("PING")).isEqualTo("+PONG");
		assertThat(this.proxy.roundTrips()).isEqualTo(1);
		assertThat(this.client.call("PING")).isEqualTo("+PONG");
		assertThat(this.proxy.roundTrips()).isEqualTo(2);
		this.proxy.resetCounters();
		assertThat(this.proxy.roundTrips()).isZero();
		assertThat(this.client.call("PING")).isEqualTo("+PONG");
		assertThat(this.proxy.roundTrips()).isEqualTo(1);
	}

	@Test
	void redirectsNewConnectionsAndKeepsOthers() throws IOException {
		try (RedisServer other = RedisServer.start()) {
			assertThat(this.client.call("PING")).isEqualTo("+PONG");
			this.proxy.redirect(other.host(), other.port());
			other.pause();
			assertThat(this.client.call("PING")).isEqualTo("+PONG");
			other.resume();
			try (Client after = new Client(this.proxy.port())) {
				assertThat(after.call("SET redirected 1")).isEqualTo("+OK");
			}
			assertThat(this.client.call("EXISTS redirected")).isEqualTo(":0");
		}
	}

	@Test
	void silencesOnlyConnectionsThatHaveSentAWord() throws IOException {
		try (Client other = new Client(this.proxy.port())) {
			assertThat(this.client.call("SET word 1")).isEqualTo("+OK");
			assertThat(other.call("PING")).isEqualTo("+PONG");
			assertThat(this.proxy.silence("word", "none")).isOne();
			this.client.send("PING");
			assertThat(other.call("SET word 1")).isEqualTo("+OK");
			assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(() -> this.client.receive(300));
			try (Client later = new Client(this.proxy.port())) {
				assertThat(later.call("SET word 1")).isEqualTo("+OK");
			}
			this.proxy.heal();
			assertThat(this.client.receive()).isEqualTo("+PONG");
		}
	}

	@Test
	void countsOneRoundTripForPipelinedRequests() throws IOException {
		assertThat(this.direct.call("DEL pipelined")).startsWith(":");
		this.proxy.blackHoleReplies(true);
		this.client.send("ECHO 1");
		this.client.send("SET pipelined 1");
		Awaitility.await().until(() -> this.direct.call("EXISTS pipelined").equals(":1"));
		this.proxy.blackHoleReplies(false);
		assertThat(this.client.receive()).isEqualTo("$1");
		assertThat(this.proxy.roundTrips()).isEqualTo(1);
	}

	@Test
	void countsRoundTripsOfServerThatSpeaksFirst() throws Exception {
		try (ServerSocket listener = new ServerSocket(0, 0, InetAddress.getByName("127.0.0.1"));
				TcpProxy ownProxy = TcpProxy.to("127.0.0.1", listener.getLocalPort());
				Client own = new Client(ownProxy.port());
				Socket server = listener.accept()) {
			server.getOutputStream().write("hello\r\n".getBytes(StandardCharsets.UTF_8));
			assertThat(own.receive()).isEqualTo("hello");
			assertThat(ownProxy.roundTrips()).isZero();
			own.send("login");
			assertThat(server.getInputStream().read()).isEqualTo('l');
			assertThat(ownProxy.roundTrips()).isEqualTo(1);
		}
	}

	@Test
	void dropNextReplyLosesReplyAndNotRequest() throws IOException {
		try (Client other = new Client(this.proxy.port())) {
			assertThat(this.client.call("DEL dropped")).startsWith(":");
			this.proxy.dropNextReply();
			assertThatExceptionOfType(SocketException.class).isThrownBy(() -> this.client.call("SET dropped 1"));
			assertThat(other.call("EXISTS dropped")).isEqualTo(":1");
			assertThat(this.proxy.openConnections()).isEqualTo(1);
		}
	}

	@Test
	void dropRepliesCutsOneConnectionForEachReply() throws IOException {
		this.proxy.dropReplies(2);
		for (int i = 0; i < 2; i++) {
			try (Client dropped = new Client(this.proxy.port())) {
				assertThatExceptionOfType(SocketException.class).isThrownBy(() -> dropped.call("PING"));
			}
		}
		assertThat(this.client.call("PING")).isEqualTo("+PONG");
	}

	@Test
	void delaysRequestsAndReplies() throws IOException {
		this.proxy.delayRequests(Duration.ofMillis(100));
		this.proxy.delayReplies(Duration.ofMillis(150));
		long start = System.nanoTime();
		assertThat(this.client.call("PING")).isEqualTo("+PONG");
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofMillis(250), Patience.EVENTUALLY);
	}

	@Test
	void delayCanBeTakenBack() throws IOException {
		this.proxy.delayRequests(Duration.ofHours(1));
		this.client.send("PING");
		Awaitility.await().until(() -> this.proxy.roundTrips() == 1);
		this.proxy.delayRequests(Duration.ZERO);
		assertThat(this.client.receive()).isEqualTo("+PONG");
	}

	@Test
	void blackHoleForwardsLate() throws IOException {
		assertThat(this.direct.call("DEL late")).startsWith(":");
		this.proxy.blackHole(true);
		this.client.send("SET late 1");
		assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(() -> this.client.receive(200));
		assertThat(this.direct.call("EXISTS late")).isEqualTo(":0");
		this.proxy.blackHole(false);
		assertThat(this.client.receive()).isEqualTo("+OK");
		assertThat(this.direct.call("EXISTS late")).isEqualTo(":1");
	}

	@Test
	void blackHoleSwallowsOneDirection() throws IOException {
		assertThat(this.direct.call("DEL oneway")).startsWith(":");
		this.proxy.blackHoleReplies(true);
		this.client.send("SET oneway 1");
		Awaitility.await().until(() -> ":1".equals(this.direct.call("EXISTS oneway")));
		assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(() -> this.client.receive(200));
		this.proxy.heal();
		assertThat(this.client.receive()).isEqualTo("+OK");
		this.proxy.blackHoleRequests(true);
		this.client.send("SET oneway 2");
		assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(() -> this.client.receive(200));
		assertThat(this.direct.call("INCR oneway")).isEqualTo(":2");
		this.proxy.heal();
		assertThat(this.client.receive()).isEqualTo("+OK");
	}

	@Test
	void cutsInTheMiddleOfReply() throws IOException {
		assertThat(this.direct.call("SET half 0")).isEqualTo("+OK");
		this.proxy.cutRepliesAfter("+O".length());
		this.client.send("SET half 1");
		assertThat(this.client.receive()).isEqualTo("+O");
		assertThat(this.direct.call("INCR half")).isEqualTo(":2");
		Awaitility.await().until(() -> this.proxy.openConnections() == 0);
		try (Client later = new Client(this.proxy.port())) {
			assertThat(later.call("PING")).isEqualTo("+PONG");
		}
	}

	@Test
	void cutsInTheMiddleOfRequest() throws IOException {
		assertThat(this.direct.call("SET begun 0")).isEqualTo("+OK");
		this.proxy.cutRequestsAfter("PING\r\nSET beg".length());
		assertThat(this.client.call("PING")).isEqualTo("+PONG");
		this.client.send("SET begun 1");
		Awaitility.await().until(() -> this.proxy.openConnections() == 0);
		assertThat(this.direct.call("INCR begun")).isEqualTo(":1");
	}

	@Test
	void blackHoleDeliversRequestOfClientThatHasGivenUp() throws IOException {
		assertThat(this.direct.call("DEL zombie")).startsWith(":");
		this.proxy.blackHole(true);
		this.client.send("SET zombie 1");
		Awaitility.await().until(() -> this.proxy.roundTrips() == 1);
		this.client.close();
		assertThat(this.proxy.openConnections()).isEqualTo(1);
		this.proxy.blackHole(false);
		Awaitility.await().until(() -> this.proxy.openConnections() == 0);
		assertThat(this.direct.call("EXISTS zombie")).isEqualTo(":1");
	}

	@Test
	void discardLosesBytesForGood() throws IOException {
		assertThat(this.direct.call("DEL lost")).startsWith(":");
		this.proxy.discard(true);
		this.client.send("SET lost 1");
		Awaitility.await().until(() -> this.proxy.roundTrips() == 1);
		assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(() -> this.client.receive(200));
		this.proxy.discard(false);
		assertThat(this.client.call("PING")).isEqualTo("+PONG");
		assertThat(this.direct.call("EXISTS lost")).isEqualTo(":0");
	}

	@Test
	void cutAllResetsOpenConnections() throws IOException {
		try (Client other = new Client(this.proxy.port())) {
			this.client.call("PING");
			other.call("PING");
			assertThat(this.proxy.openConnections()).isEqualTo(2);
			this.proxy.cutAll();
			assertThat(this.proxy.openConnections()).isZero();
			assertThatExceptionOfType(SocketException.class).isThrownBy(this.client::receive);
			assertThatExceptionOfType(SocketException.class).isThrownBy(other::receive);
		}
	}

	@Test
	void cutAllReachesConnectionsThatAreHeldBack() throws IOException {
		this.proxy.blackHole(true);
		this.client.send("PING");
		Awaitility.await().until(() -> this.proxy.roundTrips() == 1);
		this.proxy.cutAll();
		assertThatExceptionOfType(SocketException.class).isThrownBy(this.client::receive);
		Awaitility.await().until(() -> threads("requests") == 0 && threads("replies") == 0);
	}

	@Test
	void refuseResetsNewConnectionsOnly() throws IOException {
		this.client.call("PING");
		this.proxy.refuse(true);
		assertThatExceptionOfType(SocketException.class).isThrownBy(() -> {
			try (Client refused = new Client(this.proxy.port())) {
				refused.call("PING");
			}
		});
		assertThat(this.client.call("PING")).isEqualTo("+PONG");
		this.proxy.refuse(false);
		try (Client accepted = new Client(this.proxy.port())) {
			assertThat(accepted.call("PING")).isEqualTo("+PONG");
		}
	}

	@Test
	void endOfConnectionIsForwarded() throws IOException {
		assertThat(this.client.call("QUIT")).isEqualTo("+OK");
		assertThat(this.client.receive()).isNull();
		this.client.close();
		Awaitility.await().until(() -> this.proxy.openConnections() == 0);
	}

	@Test
	void deadServerResetsConnection() throws IOException {
		try (RedisServer server = RedisServer.start();
				TcpProxy ownProxy = TcpProxy.to(server.host(), server.port());
				Client own = new Client(ownProxy.port())) {
			own.call("PING");
			server.kill();
			assertThat(own.receive()).isNull();
			assertThatExceptionOfType(SocketException.class).isThrownBy(() -> {
				try (Client refused = new Client(ownProxy.port())) {
					refused.call("PING");
				}
			});
		}
	}

	@Test
	void keepsBytesAndCountsUnderConcurrency() throws Exception {
		int clients = 8;
		int requests = 500;
		ExecutorService executor = Executors.newFixedThreadPool(clients);
		try {
			List<Callable<Void>> tasks = new ArrayList<>();
			for (int i = 0; i < clients; i++) {
				String value = "x".repeat(20_000) + i;
				tasks.add(() -> {
					try (Client own = new Client(this.proxy.port())) {
						for (int j = 0; j < requests; j++) {
							assertThat(own.call("ECHO " + value + j)).isEqualTo("$" + (value + j).length());
							assertThat(own.receive()).isEqualTo(value + j);
						}
					}
					return null;
				});
			}
			for (Future<Void> result : executor.invokeAll(tasks)) {
				result.get();
			}
		}
		finally {
			executor.shutdownNow();
		}
		assertThat(this.proxy.roundTrips()).isEqualTo((long) clients * requests);
		this.client.close();
		Awaitility.await().until(() -> this.proxy.openConnections() == 0);
	}

	@Test
	void closeEndsAllThreads() throws IOException {
		this.client.call("PING");
		assertThat(threads("")).isEqualTo(3);
		this.proxy.close();
		assertThatExceptionOfType(SocketException.class).isThrownBy(this.client::receive);
		Awaitility.await().until(() -> threads("") == 0);
	}

	private long threads(String name) {
		String prefix = "tcp-proxy-" + this.proxy.port() + "-" + name;
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith(prefix))
			.count();
	}

	/**
	 * The smallest possible Redis client: lines in, lines out.
	 */
	private static final class Client implements AutoCloseable {

		private final Socket socket;

		private final BufferedReader reader;

		Client(int port) throws IOException {
			this.socket = new Socket("127.0.0.1", port);
			this.reader = new BufferedReader(
					new InputStreamReader(this.socket.getInputStream(), StandardCharsets.UTF_8));
		}

		@Nullable String call(String command) throws IOException {
			send(command);
			return receive();
		}

		void send(String command) throws IOException {
			this.socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.UTF_8));
		}

		@Nullable String receive() throws IOException {
			return receive(10_000);
		}

		@Nullable String receive(int timeout) throws IOException {
			this.socket.setSoTimeout(timeout);
			return this.reader.readLine();
		}

		@Override
		public void close() throws IOException {
			this.socket.close();
		}

	}

}
