package io.dlock.torture.server;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.dlock.test.RedisServer;

/**
 * One Redis, whose acknowledged writes are on disk, or are nowhere else than in memory.
 */
final class RedisStore implements RedisUnderTest {

	/**
	 * The user of the clients whose credentials can be changed, and the password. There
	 * is the default user besides, without a password.
	 */
	static final String USER = "torture";

	private final RedisProcesses processes = new RedisProcesses();

	private final Optional<LimitedDisk> disk;

	private RedisStore(Optional<LimitedDisk> disk) {
		this.disk = disk;
	}

	static RedisStore start(Mode mode) {
		Optional<LimitedDisk> disk = mode.durable() ? LimitedDisk.mount() : Optional.empty();
		RedisStore store = new RedisStore(disk);
		List<String> arguments = new ArrayList<>(arguments(mode));
		disk.ifPresent((files) -> arguments.addAll(List.of("--dir", files.directory().toString())));
		store.processes.add(RedisServer.start(mode.environment(), arguments.toArray(String[]::new)));
		return store;
	}

	/**
	 * The log of a long campaign is rewritten before it fills the disk by itself.
	 */
	static List<String> arguments(Mode mode) {
		return List.of("--appendonly", mode.durable() ? "yes" : "no", "--appendfsync", "always", "--lua-time-limit",
				"50", "--maxmemory-policy", "noeviction", "--auto-aof-rewrite-percentage", "10",
				"--auto-aof-rewrite-min-size", "32mb", "--user", USER, "on", ">" + USER, "~*", "&*", "+@all");
	}

	@Override
	public StoreType type() {
		return StoreType.REDIS;
	}

	@Override
	public List<ServerNode> nodes() {
		return this.processes.nodes();
	}

	@Override
	public RedisProcesses processes() {
		return this.processes;
	}

	@Override
	public Optional<LimitedDisk> disk() {
		return this.disk;
	}

	@Override
	public List<String> clientOptions(int port) {
		return List.of("--store=" + type().label(), "--host=127.0.0.1", "--port=" + port, "--username=" + USER,
				"--password=" + USER);
	}

	@Override
	public Map<String, Long> figures() {
		return this.processes.figures();
	}

	@Override
	public void close() {
		this.processes.close();
		this.disk.ifPresent(LimitedDisk::close);
	}

}
