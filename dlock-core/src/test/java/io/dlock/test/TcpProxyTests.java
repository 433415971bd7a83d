package io.dlock.test;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
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
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
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

	@AfterEach
	void close() {
		this.proxy.close();
	}

	@Test
	void countsOneRoundTripForEachRequest() throws IOException {
		try (Client client = new Client(this.proxy.port())) {
			assertThat(client.call("PING")).isEqualTo("+PONG");
			assertThat(this.proxy.roundTrips()).isEqualTo(1);
			assertThat(client.call("PING")).isEqualTo("+PONG");
			assertThat(this.proxy.roundTrips()).isEqualTo(2);
			this.proxy.resetCounters();
			assertThat(this.proxy.roundTrips()).isZero();
			assertThat(client.call("PING")).isEqualTo("+PONG");
			assertThat(this.proxy.roundTrips()).isEqualTo(1);
		}
	}

	@Test
	void redirectsNewConnectionsAndKeepsOthers() throws IOException {
		try (RedisServer other = RedisServer.start(); Client before = new Client(this.proxy.port())) {
			assertThat(before.call("PING")).isEqualTo("+PONG");
			this.proxy.redirect(other.host(), other.port());
			other.pause();
			assertThat(before.call("PING")).isEqualTo("+PONG");
			other.resume();
			try (Client after = new Client(this.proxy.port())) {
				assertThat(after.call("SET redirected 1")).isEqualTo("+OK");
			}
			assertThat(before.call("EXISTS redirected")).isEqualTo(":0");
		}
	}

	@Test
	void silencesOnlyConnectionsThatHaveSentAWord() throws IOException {
		try (Client chosen = new Client(this.proxy.port()); Client other = new Client(this.proxy.port())) {
			assertThat(chosen.call("SET word 1")).isEqualTo("+OK");
			assertThat(other.call("PING")).isEqualTo("+PONG");
			assertThat(this.proxy.silence("word", "none")).isOne();
			chosen.send("PING");
			assertThat(other.call("SET word 1")).isEqualTo("+OK");
			assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(() -> chosen.receive(300));
			try (Client later = new Client(this.proxy.port())) {
				assertThat(later.call("SET word 1")).isEqualTo("+OK");
			}
			this.proxy.heal();
			assertThat(chosen.receive()).isEqualTo("+PONG");
		}
	}

	@Test
	void countsOneRoundTripForPipelinedRequests() throws IOException {
		this.proxy.delayReplies(Duration.ofSeconds(1));
		try (Client client = new Client(this.proxy.port())) {
			client.send("ECHO 1");
			client.send("ECHO 2");
			assertThat(client.receive()).isEqualTo("$1");
			assertThat(this.proxy.roundTrips()).isEqualTo(1);
		}
	}

	@Test
	void countsRoundTripsOfServerThatSpeaksFirst() throws Exception {
		try (ServerSocket listener = new ServerSocket(0, 0, InetAddress.getByName("127.0.0.1"));
				TcpProxy ownProxy = TcpProxy.to("127.0.0.1", listener.getLocalPort());
				Client client = new Client(ownProxy.port());
				Socket server = listener.accept()) {
			server.getOutputStream().write("hello\r\n".getBytes(StandardCharsets.UTF_8));
			assertThat(client.receive()).isEqualTo("hello");
			assertThat(ownProxy.roundTrips()).isZero();
			client.send("login");
			assertThat(server.getInputStream().read()).isEqualTo('l');
			assertThat(ownProxy.roundTrips()).isEqualTo(1);
		}
	}

	@Test
	void dropNextReplyLosesReplyAndNotRequest() throws IOException {
		try (Client client = new Client(this.proxy.port()); Client other = new Client(this.proxy.port())) {
			assertThat(client.call("DEL dropped")).startsWith(":");
			this.proxy.dropNextReply();
			assertThatExceptionOfType(SocketException.class).isThrownBy(() -> client.call("SET dropped 1"));
			assertThat(other.call("EXISTS dropped")).isEqualTo(":1");
			assertThat(this.proxy.openConnections()).isEqualTo(1);
		}
	}

	@Test
	void dropRepliesCutsOneConnectionForEachReply() throws IOException {
		this.proxy.dropReplies(2);
		for (int i = 0; i < 2; i++) {
			try (Client client = new Client(this.proxy.port())) {
				assertThatExceptionOfType(SocketException.class).isThrownBy(() -> client.call("PING"));
			}
		}
		try (Client client = new Client(this.proxy.port())) {
			assertThat(client.call("PING")).isEqualTo("+PONG");
		}
	}

	@Test
	void delaysRequestsAndReplies() throws IOException {
		try (Client client = new Client(this.proxy.port())) {
			this.proxy.delayRequests(Duration.ofMillis(100));
			this.proxy.delayReplies(Duration.ofMillis(150));
			long start = System.nanoTime();
			assertThat(client.call("PING")).isEqualTo("+PONG");
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofMillis(250),
					Patience.EVENTUALLY);
		}
	}

	@Test
	void delayCanBeTakenBack() throws IOException {
		try (Client client = new Client(this.proxy.port())) {
			this.proxy.delayRequests(Duration.ofHours(1));
			client.send("PING");
			await(() -> this.proxy.roundTrips() == 1);
			this.proxy.delayRequests(Duration.ZERO);
			assertThat(client.receive()).isEqualTo("+PONG");
		}
	}

	@Test
	void blackHoleForwardsLate() throws IOException {
		try (Client client = new Client(this.proxy.port()); Client other = new Client(this.redis.port())) {
			assertThat(other.call("DEL late")).startsWith(":");
			this.proxy.blackHole(true);
			client.send("SET late 1");
			assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(() -> client.receive(200));
			assertThat(other.call("EXISTS late")).isEqualTo(":0");
			this.proxy.blackHole(false);
			assertThat(client.receive()).isEqualTo("+OK");
			assertThat(other.call("EXISTS late")).isEqualTo(":1");
		}
	}

	@Test
	void blackHoleSwallowsOneDirection() throws IOException {
		try (Client client = new Client(this.proxy.port()); Client other = new Client(this.redis.port())) {
			assertThat(other.call("DEL oneway")).startsWith(":");
			this.proxy.blackHoleReplies(true);
			client.send("SET oneway 1");
			await(() -> call(other, "EXISTS oneway").equals(":1"));
			assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(() -> client.receive(200));
			this.proxy.heal();
			assertThat(client.receive()).isEqualTo("+OK");
			this.proxy.blackHoleRequests(true);
			client.send("SET oneway 2");
			assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(() -> client.receive(200));
			assertThat(other.call("INCR oneway")).isEqualTo(":2");
			this.proxy.heal();
			assertThat(client.receive()).isEqualTo("+OK");
		}
	}

	@Test
	void cutsInTheMiddleOfReply() throws IOException {
		try (Client client = new Client(this.proxy.port()); Client other = new Client(this.redis.port())) {
			assertThat(other.call("SET half 0")).isEqualTo("+OK");
			this.proxy.cutRepliesAfter("+O".length());
			client.send("SET half 1");
			assertThat(client.receive()).isEqualTo("+O");
			assertThat(other.call("INCR half")).isEqualTo(":2");
			await(() -> this.proxy.openConnections() == 0);
		}
		try (Client client = new Client(this.proxy.port())) {
			assertThat(client.call("PING")).isEqualTo("+PONG");
		}
	}

	@Test
	void cutsInTheMiddleOfRequest() throws IOException {
		try (Client client = new Client(this.proxy.port()); Client other = new Client(this.redis.port())) {
			assertThat(other.call("SET begun 0")).isEqualTo("+OK");
			this.proxy.cutRequestsAfter("PING\r\nSET beg".length());
			assertThat(client.call("PING")).isEqualTo("+PONG");
			client.send("SET begun 1");
			await(() -> this.proxy.openConnections() == 0);
			assertThat(other.call("INCR begun")).isEqualTo(":1");
		}
	}

	@Test
	void blackHoleDeliversRequestOfClientThatHasGivenUp() throws IOException {
		try (Client other = new Client(this.redis.port())) {
			assertThat(other.call("DEL zombie")).startsWith(":");
			this.proxy.blackHole(true);
			try (Client client = new Client(this.proxy.port())) {
				client.send("SET zombie 1");
				await(() -> this.proxy.roundTrips() == 1);
			}
			assertThat(this.proxy.openConnections()).isEqualTo(1);
			this.proxy.blackHole(false);
			await(() -> this.proxy.openConnections() == 0);
			assertThat(other.call("EXISTS zombie")).isEqualTo(":1");
		}
	}

	@Test
	void discardLosesBytesForGood() throws IOException {
		try (Client client = new Client(this.proxy.port()); Client other = new Client(this.redis.port())) {
			assertThat(other.call("DEL lost")).startsWith(":");
			this.proxy.discard(true);
			client.send("SET lost 1");
			assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(() -> client.receive(200));
			this.proxy.discard(false);
			assertThat(client.call("PING")).isEqualTo("+PONG");
			assertThat(other.call("EXISTS lost")).isEqualTo(":0");
		}
	}

	@Test
	void cutAllResetsOpenConnections() throws IOException {
		try (Client client = new Client(this.proxy.port()); Client other = new Client(this.proxy.port())) {
			client.call("PING");
			other.call("PING");
			assertThat(this.proxy.openConnections()).isEqualTo(2);
			this.proxy.cutAll();
			assertThat(this.proxy.openConnections()).isZero();
			assertThatExceptionOfType(SocketException.class).isThrownBy(client::receive);
			assertThatExceptionOfType(SocketException.class).isThrownBy(other::receive);
		}
	}

	@Test
	void cutAllReachesConnectionsThatAreHeldBack() throws IOException {
		try (Client client = new Client(this.proxy.port())) {
			this.proxy.blackHole(true);
			client.send("PING");
			await(() -> this.proxy.roundTrips() == 1);
			this.proxy.cutAll();
			assertThatExceptionOfType(SocketException.class).isThrownBy(client::receive);
			await(() -> threads("requests") == 0 && threads("replies") == 0);
		}
	}

	@Test
	void refuseResetsNewConnectionsOnly() throws IOException {
		try (Client client = new Client(this.proxy.port())) {
			client.call("PING");
			this.proxy.refuse(true);
			assertThatExceptionOfType(SocketException.class).isThrownBy(() -> {
				try (Client refused = new Client(this.proxy.port())) {
					refused.call("PING");
				}
			});
			assertThat(client.call("PING")).isEqualTo("+PONG");
			this.proxy.refuse(false);
			try (Client accepted = new Client(this.proxy.port())) {
				assertThat(accepted.call("PING")).isEqualTo("+PONG");
			}
		}
	}

	@Test
	void endOfConnectionIsForwarded() throws IOException {
		try (Client client = new Client(this.proxy.port())) {
			assertThat(client.call("QUIT")).isEqualTo("+OK");
			assertThat(client.receive()).isNull();
		}
		await(() -> this.proxy.openConnections() == 0);
	}

	@Test
	void deadServerResetsConnection() throws IOException {
		try (RedisServer server = RedisServer.start();
				TcpProxy ownProxy = TcpProxy.to(server.host(), server.port());
				Client client = new Client(ownProxy.port())) {
			client.call("PING");
			server.kill();
			assertThat(client.receive()).isNull();
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
					try (Client client = new Client(this.proxy.port())) {
						for (int j = 0; j < requests; j++) {
							assertThat(client.call("ECHO " + value + j)).isEqualTo("$" + (value + j).length());
							assertThat(client.receive()).isEqualTo(value + j);
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
		await(() -> this.proxy.openConnections() == 0);
	}

	@Test
	void closeEndsAllThreads() throws IOException {
		try (Client client = new Client(this.proxy.port())) {
			client.call("PING");
			assertThat(threads("")).isEqualTo(3);
			this.proxy.close();
			assertThatExceptionOfType(SocketException.class).isThrownBy(client::receive);
			await(() -> threads("") == 0);
		}
	}

	private long threads(String name) {
		String prefix = "tcp-proxy-" + this.proxy.port() + "-" + name;
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith(prefix))
			.count();
	}

	private static String call(Client client, String command) {
		try {
			return String.valueOf(client.call(command));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static void await(BooleanSupplier condition) {
		long start = System.nanoTime();
		while (!condition.getAsBoolean()) {
			assertThat(System.nanoTime() - start).isLessThan(Patience.EVENTUALLY.toNanos());
			LockSupport.parkNanos(Duration.ofMillis(1).toNanos());
		}
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
