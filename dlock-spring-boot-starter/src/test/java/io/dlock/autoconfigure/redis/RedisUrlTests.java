package io.dlock.autoconfigure.redis;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The URLs of the nodes of a quorum.
 */
class RedisUrlTests {

	private static RedisUrl url(String text) {
		return RedisUrl.parse(List.of(text)).get(0);
	}

	@Test
	void partsThatAreMissingHaveDefaults() {
		assertThat(url("redis://a")).isEqualTo(new RedisUrl("a", 6379, false, null, null, 0));
		assertThat(url("redis://a/")).isEqualTo(url("redis://a"));
		assertThat(url("redis://a:7000/3")).isEqualTo(new RedisUrl("a", 7000, false, null, null, 3));
		assertThat(url("rediss://a").tls()).isTrue();
	}

	@ParameterizedTest
	@CsvSource({ "locks:secret, locks, secret", ":secret,, secret", "secret,, secret",
			"locks:s%40c%2Fr:t, locks, s@c/r:t", "se%3Acret,, se:cret", "lö%3Aks:sé%3At, lö:ks, sé:t" })
	void credentialsAreDecoded(String written, String user, String password) {
		assertThat(url("redis://" + written + "@a/1")).isEqualTo(new RedisUrl("a", 6379, false, user, password, 1));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			localhost:6379                | has another scheme
			http://:secret@a              | has another scheme
			redis-sentinel://:secret@a    | has another scheme
			redis:secret                  | has no host
			redis:///1                    | has no host
			redis://:secret@              | has no host
			redis://                      | is no URL
			redis://:secret@a_b           | has no host
			redis://:sec ret@a            | is no URL
			redis://:secret@a/orders      | has a database that is no number
			redis://:secret@a/0/1         | has a database that is no number
			redis://:sec?ret@a            | has no host
			redis://:secret@a?x=1         | has parameters
			redis://a#secret              | has parameters
			""")
	void urlOfNoServerIsRefusedWithoutItsPassword(String text, String problem) {
		assertThatIllegalArgumentException().isThrownBy(() -> RedisUrl.parse(List.of("redis://first", text)))
			.withMessageStartingWith("dlock.quorum.nodes[1] must be like redis://user:password@host:6379/0")
			.withMessageContaining("but " + problem)
			.withMessageNotContaining("sec")
			.withNoCause();
	}

	@Test
	void serverThatIsThereTwiceIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> RedisUrl.parse(List.of("redis://a", "redis://b", "rediss://:secret@A:6379/1")))
			.withMessageStartingWith("dlock.quorum.nodes[2] is the server A:6379, which is there twice");
	}

}
