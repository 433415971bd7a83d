package io.dlock.store.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import io.dlock.store.StoreFacts;

/**
 * The facts that a Redis server reports of itself, and warnings of those that may cost a
 * lock. Only {@code INFO} is used: the right to {@code CONFIG} would let the user change
 * the server.
 */
final class RedisInfo {

	private final Map<String, String> values;

	/**
	 * Read the answer to {@code INFO}.
	 * @param text lines of names and values
	 */
	RedisInfo(String text) {
		this.values = text.lines()
			.map((line) -> line.split(":", 2))
			.filter((pair) -> pair.length == 2)
			.collect(Collectors.toMap((pair) -> pair[0], (pair) -> pair[1].trim(), (first, second) -> first));
	}

	/**
	 * Merge the facts of several nodes.
	 * @param nodes the facts of each node, by its address
	 * @return the facts of all nodes
	 */
	static StoreFacts together(Map<String, StoreFacts> nodes) {
		List<StoreFacts> facts = List.copyOf(nodes.values());
		List<String> warnings = new ArrayList<>();
		nodes.forEach((node, fact) -> fact.warnings().forEach((warning) -> warnings.add(node + ": " + warning)));
		String servers = facts.stream().map(StoreFacts::server).distinct().collect(Collectors.joining(", "));
		String roles = facts.stream()
			.map(StoreFacts::role)
			.filter(Objects::nonNull)
			.distinct()
			.collect(Collectors.joining(", "));
		return new StoreFacts(servers + ", " + facts.size() + " nodes", roles.isEmpty() ? null : roles, warnings);
	}

	/**
	 * Whether scripts of a server write although too few replicas follow it. Valkey says
	 * that it is Redis 7.2.
	 * @param version the version of Redis
	 */
	static boolean grantsWithoutReplicas(String version) {
		return version.matches("6\\.2\\.[0-6]");
	}

	/**
	 * The facts.
	 * @param acknowledgement the acknowledgement that locks need, or {@code null}
	 */
	StoreFacts facts(@Nullable RedisAcknowledgement acknowledgement) {
		return new StoreFacts(server(), role(), warnings((acknowledgement != null) ? acknowledgement.replicas() : 0));
	}

	private String server() {
		String valkey = this.values.get("valkey_version");
		return (valkey != null) ? "Valkey " + valkey : "Redis " + this.values.getOrDefault("redis_version", "");
	}

	private @Nullable String role() {
		String role = this.values.get("role");
		return "slave".equals(role) ? "replica" : role;
	}

	private List<String> warnings(int acknowledging) {
		List<String> warnings = new ArrayList<>();
		if ("replica".equals(role())) {
			warnings.add("This is a replica: it takes no locks");
		}
		String policy = this.values.getOrDefault("maxmemory_policy", "noeviction");
		if (!policy.equals("noeviction")) {
			warnings.add("maxmemory-policy is " + policy + ": a lock that is held may be evicted, and granted again. "
					+ "It has to be noeviction");
		}
		if (number("evicted_keys") > 0) {
			warnings.add(number("evicted_keys") + " keys have been evicted since the start of the server");
		}
		long replicas = number("connected_slaves");
		if (replicas > 0 && !this.values.containsKey("min_slaves_good_slaves")) {
			warnings.add("min-replicas-to-write is 0 with " + replicas
					+ " replicas: a master that was cut off goes on to grant locks");
		}
		String version = this.values.getOrDefault("redis_version", "");
		if (replicas > 0 && grantsWithoutReplicas(version)) {
			warnings.add("Redis " + version + " does not apply min-replicas-to-write to scripts: "
					+ "a master that was cut off goes on to grant locks. It has to be 6.2.7 or newer");
		}
		if (replicas < acknowledging && "master".equals(role())) {
			warnings.add(replicas + " replicas are connected, but " + acknowledging
					+ " have to acknowledge each lock (dlock.redis.acknowledge-replicas): no lock is granted");
		}
		addPersistence(warnings);
		return warnings;
	}

	private void addPersistence(List<String> warnings) {
		if ("0".equals(this.values.get("aof_enabled"))) {
			warnings.add("appendonly is off: after a crash Redis does not know what it granted. "
					+ "Switch it on, with appendfsync always, or delay a restart by the longest lease");
		}
		else if ("err".equals(this.values.get("aof_last_write_status"))) {
			warnings.add("The last write to the append-only file failed");
		}
	}

	private long number(String name) {
		String value = this.values.getOrDefault(name, "");
		return value.matches("[0-9]{1,18}") ? Long.parseLong(value) : 0;
	}

}
