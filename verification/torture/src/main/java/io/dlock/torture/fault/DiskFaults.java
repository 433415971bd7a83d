package io.dlock.torture.fault;

import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

import io.dlock.torture.server.LimitedDisk;
import io.dlock.torture.server.RedisAdmin;

/**
 * A disk without room. Nothing acknowledged is lost by it, but the store refuses writes,
 * or ends and has to be started again when there is room.
 */
final class DiskFaults {

	private static final Duration OFTEN = Duration.ofMillis(40);

	private static final Duration PATIENCE = Duration.ofSeconds(10);

	private DiskFaults() {
	}

	static List<FaultType> redis(Duration lease) {
		Range some = Range.times(lease, 0.5, 2);
		return List.of(FaultType.safe("F23", "disk-full-ends-it", Scope.NODE, DiskFaults::endRedis).lasting(some),
				FaultType.safe("F23", "disk-full-refuses-writes", Scope.NODE, DiskFaults::refuseWrites).lasting(some));
	}

	static List<FaultType> postgres(Duration lease) {
		return List.of(FaultType.safe("F23", "disk-full-ends-it", Scope.NODE, DiskFaults::endPostgres)
			.lasting(Range.times(lease, 0.5, 2)));
	}

	/**
	 * With {@code appendfsync always} Redis ends before it would acknowledge what it can
	 * not write.
	 */
	private static void endRedis(Infliction fault) throws IOException, InterruptedException {
		fill(fault);
		try {
			fault.hold();
		}
		finally {
			fault.disk().free();
			fault.node().restart();
		}
	}

	/**
	 * Otherwise it refuses writes, and writes what it has in memory when it can, once in
	 * a second.
	 */
	private static void refuseWrites(Infliction fault) throws IOException, InterruptedException {
		RedisAdmin admin = fault.admin();
		admin.call("CONFIG", "SET", "appendfsync", "everysec");
		fill(fault);
		try {
			fault.hold();
		}
		finally {
			fault.disk().free();
			awaitWritten(admin);
			admin.call("CONFIG", "SET", "appendfsync", "always");
		}
	}

	private static void awaitWritten(RedisAdmin admin) throws IOException {
		long end = System.nanoTime() + PATIENCE.toNanos();
		while (!admin.text("INFO", "persistence").contains("aof_last_write_status:ok")) {
			if (System.nanoTime() > end) {
				throw new IOException("Redis does not write again");
			}
			LockSupport.parkNanos(OFTEN.toNanos());
		}
	}

	/**
	 * PostgreSQL ends when it has no room for the next segment of its log.
	 */
	private static void endPostgres(Infliction fault) throws IOException, InterruptedException {
		fill(fault);
		try {
			useUpLog(fault);
			fault.hold();
		}
		finally {
			fault.disk().free();
			fault.node().restart();
		}
	}

	private static void useUpLog(Infliction fault) throws InterruptedException {
		try {
			do {
				fault.sql().execute("SELECT pg_switch_wal()");
			}
			while (fault.pause(OFTEN));
		}
		catch (SQLException ex) {
			// that was the last one
		}
	}

	private static void fill(Infliction fault) throws IOException {
		LimitedDisk disk = fault.disk();
		try {
			disk.fill();
		}
		catch (IOException ex) {
			disk.free();
			throw ex;
		}
	}

}
