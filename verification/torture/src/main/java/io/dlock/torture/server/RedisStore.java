package io.dlock.torture.server;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import io.dlock.test.RedisServer;

/**
 * One Redis, whose acknowledged writes are on disk, or are nowhere else than in memory.
 * Each client has a proxy of its own.
 */
final class RedisStore extends RedisUnderTest {

	private final Optional<LimitedDisk> disk;

	private RedisStore(Optional<LimitedDisk> disk) {
		super(StoreType.REDIS);
		this.disk = disk;
	}

	static RedisStore start(Mode mode) {
		Optional<LimitedDisk> disk = mode.disk();
		RedisStore store = new RedisStore(disk);
		List<String> arguments = new ArrayList<>(arguments(mode.durable()));
		disk.ifPresent((files) -> arguments.addAll(List.of("--dir", files.directory().toString())));
		store.processes().add(RedisServer.start(mode.environment(), arguments.toArray(String[]::new)));
		return store;
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
	public void close() {
		super.close();
		this.disk.ifPresent(LimitedDisk::close);
	}

}
