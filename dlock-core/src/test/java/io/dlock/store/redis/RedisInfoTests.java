package io.dlock.store.redis;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import io.dlock.store.StoreFacts;

import static org.assertj.core.api.Assertions.assertThat;

class RedisInfoTests {

	@Test
	void valkeyIsNamed() {
		StoreFacts facts = new RedisInfo(
				"# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.1.0\r\nrole:master\r\n")
			.facts(null);
		assertThat(facts).isEqualTo(new StoreFacts("Valkey 8.1.0", "master", List.of()));
	}

	@Test
	void unexpectedAnswersAreNoFailure() {
		for (String text : List.of("", "nonsense", ":::", "role:\r\nrole:\r\nevicted_keys:x\r\nconnected_slaves:-1")) {
			assertThat(new RedisInfo(text).facts(null).warnings()).as(text).isEmpty();
		}
	}

	@Test
	void r19FailedWriteIsWarnedOf() {
		assertThat(new RedisInfo("aof_enabled:1\r\naof_last_write_status:err\r\n").facts(null).warnings()).hasSize(1);
	}

	private static List<String> warningsOfAMaster(String version) {
		return new RedisInfo(version + "\r\nrole:master\r\nconnected_slaves:1\r\nmin_slaves_good_slaves:1\r\n")
			.facts(null)
			.warnings();
	}

	@Test
	void r19ServerWhoseScriptsNeedNoReplicasIsWarnedOf() {
		assertThat(warningsOfAMaster("redis_version:6.2.0")).hasSize(1);
		assertThat(warningsOfAMaster("redis_version:6.2.6")).singleElement().asString().contains("6.2.7");
		for (String version : List.of("6.2.7", "6.2.11", "6.2.60", "7.0.0", "7.2.4\r\nvalkey_version:8.1.0")) {
			assertThat(warningsOfAMaster("redis_version:" + version)).as(version).isEmpty();
		}
		assertThat(new RedisInfo("redis_version:6.2.6\r\nrole:master\r\nconnected_slaves:0\r\n").facts(null).warnings())
			.as("without a replica")
			.isEmpty();
	}

	@Test
	void warningsOfAClusterNameTheNode() {
		Map<String, StoreFacts> nodes = new LinkedHashMap<>();
		nodes.put("a:1", new StoreFacts("Redis 6.2.6", "master", List.of()));
		nodes.put("b:2", new StoreFacts("Redis 6.2.6", "master", List.of("a warning")));
		assertThat(RedisInfo.together(nodes))
			.isEqualTo(new StoreFacts("Redis 6.2.6, 2 nodes", "master", List.of("b:2: a warning")));
	}

}
