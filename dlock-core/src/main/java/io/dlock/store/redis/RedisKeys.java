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

	private static final int BUCKETS = 1024;

	private static final String[] BUCKET_NAMES = IntStream.range(0, BUCKETS)
		.mapToObj((bucket) -> String.format(Locale.ROOT, "b%03d", bucket))
		.toArray(String[]::new);

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

	private static String bucket(String storageKey) {
		CRC32 crc = new CRC32();
		crc.update(storageKey.getBytes(StandardCharsets.US_ASCII));
		return BUCKET_NAMES[(int) (crc.getValue() % BUCKETS)];
	}

}
