package io.dlock.torture.fault;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.dlock.torture.server.RedisAdmin;

/**
 * Faults that an administrator inflicts on a Redis, on purpose or not.
 */
final class RedisFaults {

	private static final Duration OFTEN = Duration.ofMillis(40);

	private RedisFaults() {
	}

	static List<FaultType> safe(Duration lease) {
		Range some = Range.times(lease, 0.3, 1.5);
		return Stream
			.concat(connections(lease).stream(), Stream.of(
					FaultType.safe("F6", "client-pause", Scope.NODE, RedisFaults::clientPause)
						.lasting(Range.times(lease, 0.3, 1.5)),
					FaultType.safe("F7", "debug-sleep", Scope.NODE, RedisFaults::debugSleep).lasting(some),
					FaultType.safe("F7", "endless-script", Scope.NODE, RedisFaults::endlessScript).lasting(some),
					FaultType.safe("F8", "max-clients", Scope.NODE, RedisFaults::maxClients).lasting(some),
					FaultType.safe("F8", "no-memory-for-writes", Scope.NODE, RedisFaults::outOfMemory).lasting(some)))
			.toList();
	}

	/**
	 * Faults that a server survives without its clients noticing more than a lost
	 * connection.
	 */
	static List<FaultType> connections(Duration lease) {
		Range some = Range.times(lease, 0.3, 1.5);
		return List.of(
				FaultType.safe("F13", "kill-connections", Scope.NODE, RedisFaults::killConnections).lasting(some),
				FaultType.safe("F13", "script-flush", Scope.NODE, RedisFaults::scriptFlush).lasting(some),
				FaultType.safe("F13", "idle-timeout", Scope.NODE, RedisFaults::idleTimeout)
					.lasting(Range.times(lease, 1, 3)),
				FaultType.safe("F22", "lose-messages", Scope.NODE, RedisFaults::loseMessages)
					.lasting(Range.times(lease, 1, 3)),
				FaultType.safe("F22", "repeat-messages", Scope.NODE, RedisFaults::repeatMessages)
					.lasting(Range.times(lease, 1, 3)));
	}

	static FaultType flushAll() {
		return FaultType.losing("F14", "flush-all", Scope.NODE, RedisFaults::flushAll);
	}

	/**
	 * Some of the data is lost, and no trace is left of that.
	 */
	static List<FaultType> losing(Duration lease) {
		return List.of(FaultType.losing("F14", "delete-locks", Scope.NODE, RedisFaults::deleteLocks),
				FaultType.losing("F19", "evict", Scope.NODE, RedisFaults::evict).lasting(Range.times(lease, 0.3, 1)));
	}

	private static void clientPause(Infliction fault) throws IOException, InterruptedException {
		fault.admin().call("CLIENT", "PAUSE", Long.toString(fault.millis()));
		fault.hold();
	}

	private static void debugSleep(Infliction fault) throws IOException {
		try (RedisAdmin admin = fault.anotherAdmin()) {
			admin.call("DEBUG", "SLEEP", Double.toString(fault.millis() / 1000.0));
		}
	}

	/**
	 * The server answers all clients that it is busy, until the script is killed.
	 */
	private static void endlessScript(Infliction fault) throws Exception {
		try (RedisAdmin admin = fault.anotherAdmin()) {
			Thread script = new Thread(() -> {
				try {
					admin.call("EVAL", "while true do end", "0");
				}
				catch (IOException ex) {
					// killed, as it should be
				}
			}, "endless-script");
			script.start();
			fault.hold();
			fault.admin().call("SCRIPT", "KILL");
			script.join();
		}
	}

	private static void maxClients(Infliction fault) throws IOException, InterruptedException {
		RedisAdmin admin = fault.admin();
		String before = admin.texts("CONFIG", "GET", "maxclients").get(1);
		admin.call("CONFIG", "SET", "maxclients", "1");
		try {
			kill(admin, "normal");
			kill(admin, "pubsub");
			fault.hold();
		}
		finally {
			admin.call("CONFIG", "SET", "maxclients", before);
		}
	}

	private static void killConnections(Infliction fault) throws IOException, InterruptedException {
		do {
			kill(fault.admin(), "normal");
		}
		while (fault.pause(Duration.ofMillis(200)));
	}

	private static void scriptFlush(Infliction fault) throws IOException, InterruptedException {
		do {
			fault.admin().call("SCRIPT", "FLUSH");
		}
		while (fault.pause(OFTEN));
	}

	private static void idleTimeout(Infliction fault) throws IOException, InterruptedException {
		fault.admin().call("CONFIG", "SET", "timeout", "1");
		fault.hold();
		fault.admin().call("CONFIG", "SET", "timeout", "0");
	}

	/**
	 * Writes are refused, nothing is evicted.
	 */
	private static void outOfMemory(Infliction fault) throws IOException, InterruptedException {
		RedisAdmin admin = fault.admin();
		admin.call("CONFIG", "SET", "maxmemory", "1");
		try {
			fault.hold();
		}
		finally {
			admin.call("CONFIG", "SET", "maxmemory", "0");
		}
	}

	private static void loseMessages(Infliction fault) throws IOException, InterruptedException {
		do {
			kill(fault.admin(), "pubsub");
		}
		while (fault.pause(OFTEN));
	}

	/**
	 * All waiting processes get a message about every lock.
	 */
	private static void repeatMessages(Infliction fault) throws IOException, InterruptedException {
		RedisAdmin admin = fault.admin();
		do {
			List<String> keys = admin.texts("KEYS", "*:lock:*");
			for (String channel : admin.texts("PUBSUB", "CHANNELS", "*:mail:*")) {
				for (String key : keys) {
					admin.call("PUBLISH", channel, key.substring(key.indexOf(":lock:") + ":lock:".length()));
				}
			}
		}
		while (fault.pause(OFTEN));
	}

	private static void flushAll(Infliction fault) throws IOException {
		fault.admin().call("FLUSHALL");
	}

	private static void deleteLocks(Infliction fault) throws IOException {
		RedisAdmin admin = fault.admin();
		for (String key : admin.texts("KEYS", "*:lock:*")) {
			admin.call("DEL", key);
		}
	}

	private static void evict(Infliction fault) throws IOException, InterruptedException {
		RedisAdmin admin = fault.admin();
		admin.call("CONFIG", "SET", "maxmemory-policy", "allkeys-random");
		admin.call("CONFIG", "SET", "maxmemory", "1");
		try {
			fault.hold();
		}
		finally {
			admin.call("CONFIG", "SET", "maxmemory", "0");
			admin.call("CONFIG", "SET", "maxmemory-policy", "noeviction");
		}
	}

	/**
	 * A Sentinel without its connections would take the server for down.
	 */
	private static void kill(RedisAdmin admin, String type) throws IOException {
		List<String> clients = admin.text("CLIENT", "LIST", "TYPE", type)
			.lines()
			.filter((client) -> !client.contains("name=sentinel"))
			.toList();
		for (String client : clients) {
			admin.call("CLIENT", "KILL", "ID", client.substring("id=".length(), client.indexOf(' ')));
		}
	}

}
