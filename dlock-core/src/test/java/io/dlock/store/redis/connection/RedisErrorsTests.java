package io.dlock.store.redis.connection;

import java.io.EOFException;
import java.net.ConnectException;

import javax.net.ssl.SSLException;

import io.lettuce.core.RedisCommandExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.RedisSystemException;
import redis.clients.jedis.exceptions.JedisClusterOperationException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;

import static org.assertj.core.api.Assertions.assertThat;

class RedisErrorsTests {

	private static StoreException translate(Throwable cause) {
		return RedisErrors.translate("acquire", new RedisSystemException("Error", cause));
	}

	@Test
	void errorOfTheServerIsARefusal() {
		StoreException passing = translate(new RedisCommandExecutionException("READONLY You can't write"));
		assertThat(passing.effect()).isEqualTo(Effect.NONE);
		assertThat(passing.isPermanent()).isFalse();
		StoreException permanent = translate(new JedisDataException("WRONGTYPE Operation against a key"));
		assertThat(permanent.effect()).isEqualTo(Effect.NONE);
		assertThat(permanent.isPermanent()).isTrue();
	}

	@Test
	void r30ErrorInsideAScriptIsUnwrapped() {
		StoreException ex = translate(new RedisCommandExecutionException(
				"ERR Error running script (call to f_12): @user_script:13: @user_script: 13: -OOM command not allowed"));
		assertThat(ex.effect()).isEqualTo(Effect.NONE);
		assertThat(ex.isPermanent()).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "READONLY", "LOADING", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "MOVED", "ASK", "BUSY",
			"NOREPLICAS", "OOM", "MISCONF", "NOSCRIPT", "UNBLOCKED" })
	void r30RefusalOfAServerThatCannotServeNowPasses(String code) {
		StoreException ex = translate(new RedisCommandExecutionException(code + " not now"));
		assertThat(ex.effect()).isEqualTo(Effect.NONE);
		assertThat(ex.isPermanent()).isFalse();
	}

	/**
	 * The forms of Redis 6.2, 7.0 and 7.4. The scripts lose no key on the way: the
	 * refusal comes first. An error of the script itself lasts.
	 */
	@ParameterizedTest
	@ValueSource(strings = {
			"ERR Error running script (call to f_1): @user_script:1: @user_script: 1: Lua script attempted to access a non local key in a cluster node",
			"ERR Script attempted to access a non local key in a cluster node script: f1, on @user_script:1.",
			"ERR Script attempted to access a slot not served script: f1, on @user_script:1.",
			"ERR Unable to execute command 'hset' in script because undeclared keys were accessed during rehashing of the slot script: f1, on @user_script:1.",
			"ERR Script attempted to execute a command while the cluster is down script: f1, on @user_script:1.",
			"ERR Script attempted to execute a write command while the cluster is down and readonly script: f1, on @user_script:1." })
	void r30RefusalOfAClusterInsideAScriptPasses(String message) {
		assertThat(translate(new JedisDataException(message)).isPermanent()).isFalse();
		assertThat(translate(new JedisDataException("ERR Script attempted to access nonexistent global variable 'x'"))
			.isPermanent()).isTrue();
	}

	@Test
	void r24ConnectionCutInFlightIsUnknownWhateverItsMessage() {
		SSLException cut = new SSLException("SSL peer shut down incorrectly",
				new EOFException("SSL peer shut down incorrectly"));
		StoreException ex = translate(new JedisConnectionException(cut));
		assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN);
		assertThat(ex.isPermanent()).isFalse();
	}

	/**
	 * An attempt before the last one may have been sent.
	 */
	@Test
	void r24CommandThatJedisRepeatedInAClusterIsUnknown() {
		JedisConnectionException last = new JedisConnectionException("Failed to connect to a:1.");
		assertThat(translate(last).effect()).isEqualTo(Effect.NONE);
		assertThat(translate(new JedisClusterOperationException("Cluster retry deadline exceeded.", last)).effect())
			.isEqualTo(Effect.UNKNOWN);
	}

	/**
	 * Jedis connects within a command.
	 */
	@Test
	void r30LimitOfClientsPasses() {
		StoreException ex = translate(new JedisDataException("ERR max number of clients reached"));
		assertThat(ex.effect()).isEqualTo(Effect.NONE);
		assertThat(ex.isPermanent()).isFalse();
	}

	@Test
	void refusedConnectionHasNoEffect() {
		assertThat(translate(new ConnectException("Connection refused")).effect()).isEqualTo(Effect.NONE);
		StoreException full = RedisErrors.notConnected(new RedisConnectionFailureException("Unable to connect",
				new RedisCommandExecutionException("ERR max number of clients reached")));
		assertThat(full.isPermanent()).isFalse();
		StoreException wrong = RedisErrors.notConnected(new RedisConnectionFailureException("Unable to connect",
				new RedisCommandExecutionException("WRONGPASS invalid username-password pair")));
		assertThat(wrong.isPermanent()).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "LOADING Redis is loading the dataset in memory", "MASTERDOWN Link with MASTER is down" })
	void serverThatCannotServeNowWhenItIsConnectedToPasses(String message) {
		StoreException ex = RedisErrors.notConnected(
				new RedisConnectionFailureException("Unable to connect", new RedisCommandExecutionException(message)));
		assertThat(ex.effect()).isEqualTo(Effect.NONE);
		assertThat(ex.isPermanent()).isFalse();
	}

}
