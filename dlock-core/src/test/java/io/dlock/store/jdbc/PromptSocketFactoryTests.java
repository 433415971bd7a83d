package io.dlock.store.jdbc;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class PromptSocketFactoryTests {

	private final ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());

	private final Socket socket = new PromptSocketFactory().createSocket();

	private Socket server = new Socket();

	PromptSocketFactoryTests() throws IOException {
	}

	@BeforeEach
	void connect() throws IOException {
		this.socket.connect(this.listening.getLocalSocketAddress());
		this.server = this.listening.accept();
	}

	@AfterEach
	void close() throws IOException {
		this.server.close();
		this.socket.close();
		this.listening.close();
	}

	@Test
	void pollWithoutDataReturnsAtOnce() throws IOException {
		this.socket.setSoTimeout(1);
		assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(() -> this.socket.getInputStream().read())
			.withMessage("Nothing has arrived");
		assertThatExceptionOfType(SocketTimeoutException.class)
			.isThrownBy(() -> this.socket.getInputStream().read(new byte[8]))
			.withMessage("Nothing has arrived");
	}

	@Test
	void pollReturnsDataThatHasArrived() throws IOException {
		this.server.getOutputStream().write(new byte[] { 7, 8 });
		assertThat(this.socket.getInputStream().read()).isEqualTo(7);
		this.socket.setSoTimeout(1);
		assertThat(this.socket.getInputStream().read()).isEqualTo(8);
	}

	@Test
	void readWithAnyOtherTimeoutWaits() throws IOException {
		this.socket.setSoTimeout(1);
		this.socket.setSoTimeout(20);
		assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(() -> this.socket.getInputStream().read())
			.withMessage("Read timed out");
		this.socket.setSoTimeout(0);
		this.server.close();
		assertThat(this.socket.getInputStream().read(new byte[8])).isEqualTo(-1);
	}

	@Test
	void plainConnectionsGetPromptSockets() {
		String parameter = "socketFactory=" + PromptSocketFactory.class.getName();
		assertThat(adapted("jdbc:postgresql://db/orders")).isEqualTo("jdbc:postgresql://db/orders?" + parameter);
		assertThat(adapted("jdbc:postgresql://db/orders?ssl=true"))
			.isEqualTo("jdbc:postgresql://db/orders?ssl=true&" + parameter);
	}

	/**
	 * A copy of the configuration of a pool shares the properties with that pool.
	 */
	@Test
	void connectionsOfTheApplicationAreLeftAlone() {
		try (HikariDataSource application = new HikariDataSource()) {
			application.setJdbcUrl("jdbc:postgresql://127.0.0.1:1/orders");
			LockPools pools = new LockPools(application, JdbcLockStoreSettings.defaults());
			LockPools.close(pools.open(1, PostgreSqlMailbox::promptly));
			assertThat(application.getDataSourceProperties()).isEmpty();
			assertThat(application.getJdbcUrl()).isEqualTo("jdbc:postgresql://127.0.0.1:1/orders");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "jdbc:postgresql://db/orders?socketFactory=com.example.Sockets",
			"jdbc:aws-wrapper:postgresql://db/orders" })
	void socketFactoryOfTheApplicationIsKept(String url) {
		assertThat(adapted(url)).isEqualTo(url);
	}

	private static String adapted(String url) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl(url);
		PostgreSqlMailbox.promptly(config);
		return config.getJdbcUrl();
	}

}
