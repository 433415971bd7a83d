package io.dlock.store.redis;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.zip.CRC32;

import io.dlock.store.StorageKey;

/**
 * The Redis keys of a lock: {@code dlock:{b017}:lock:<key>} and
 * {@code dlock:{b017}:fence}. The bucket is the hash tag, so that a lock and its fence
 * share a Cluster slot, and there are never more fences than buckets.
 */
final class RedisKeys {

	static final int BUCKETS = 1024;

	private static final String[] BUCKET_NAMES = IntStream.range(0, BUCKETS)
		.mapToObj((bucket) -> String.format(Locale.ROOT, "b%03d", bucket))
		.toArray(String[]::new);

	private static final String LOCK = "}:lock:";

	private final byte[] lock;

	private final byte[] fence;

	private RedisKeys(byte[] lock, byte[] fence) {
		this.lock = lock;
		this.fence = fence;
	}

	byte[] lock() {
		return this.lock;
	}

	byte[] fence() {
		return this.fence;
	}

	static RedisKeys of(String prefix, String key) {
		return ofStorageKey(prefix, StorageKey.of(key));
	}

	static RedisKeys ofStorageKey(String prefix, String storageKey) {
		String bucket = prefix + ":{" + bucket(storageKey) + "}:";
		return new RedisKeys((bucket + "lock:" + storageKey).getBytes(StandardCharsets.US_ASCII),
				(bucket + "fence").getBytes(StandardCharsets.US_ASCII));
	}

	/**
	 * The fence of a bucket.
	 * @param prefix the prefix of all names
	 * @param bucket the number of the bucket
	 * @return its name
	 */
	static byte[] fence(String prefix, int bucket) {
		return (prefix + ":{" + BUCKET_NAMES[bucket] + "}:fence").getBytes(StandardCharsets.US_ASCII);
	}

	/**
	 * The names of all locks, as a pattern.
	 * @param prefix the prefix of all names, in which nothing has a meaning in patterns
	 * @return the pattern
	 */
	static byte[] allLocks(String prefix) {
		return (prefix + ":{b*}:lock:*").getBytes(StandardCharsets.US_ASCII);
	}

	/**
	 * The storage key in the name of a lock.
	 * @param lock the name
	 * @return the storage key
	 */
	static String storageKey(String lock) {
		return lock.substring(lock.indexOf(LOCK) + LOCK.length());
	}

	private static String bucket(String storageKey) {
		CRC32 crc = new CRC32();
		crc.update(storageKey.getBytes(StandardCharsets.US_ASCII));
		return BUCKET_NAMES[(int) (crc.getValue() % BUCKETS)];
	}

}
