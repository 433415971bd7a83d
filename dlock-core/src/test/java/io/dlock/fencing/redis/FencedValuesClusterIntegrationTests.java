package io.dlock.fencing.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.fencing.StaleTokenException;
import io.dlock.test.LettuceFactories;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Fenced values in a Redis Cluster.
 */
@Timeout(120)
class FencedValuesClusterIntegrationTests {

	private static final long TOKEN = 1_838_344_036_591_874_049L;

	@Test
	void clusterFencesKeysOfAllSlots() throws Exception {
		try (RedisServer node = RedisServer.start("--cluster-enabled", "yes")) {
			LettuceConnectionFactory direct = LettuceFactories.create(node.host(), node.port());
			try (RedisConnection connection = direct.getConnection()) {
				List<byte[]> addSlots = new ArrayList<>(List.of("ADDSLOTS".getBytes()));
				IntStream.range(0, 16384).forEach((slot) -> addSlots.add(Integer.toString(slot).getBytes()));
				connection.execute("CLUSTER", addSlots.toArray(byte[][]::new));
			}
			finally {
				direct.destroy();
			}
			LettuceConnectionFactory cluster = LettuceFactories
				.create(new RedisClusterConfiguration(List.of(node.host() + ":" + node.port())));
			try {
				FencedValues clustered = new FencedValues(cluster);
				Awaitility.await().ignoreExceptions().until(() -> {
					clustered.set("warm-up", "value", TOKEN);
					return true;
				});
				for (int i = 0; i < 50; i++) {
					String name = "key" + i;
					clustered.set(name, "value", TOKEN + 1);
					assertThatExceptionOfType(StaleTokenException.class)
						.isThrownBy(() -> clustered.set(name, "stale", TOKEN));
					assertThat(clustered.get(name)).contains("value");
				}
			}
			finally {
				cluster.destroy();
			}
		}
	}

}
