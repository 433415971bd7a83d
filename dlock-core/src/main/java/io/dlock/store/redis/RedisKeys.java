package io.dlock.store.redis;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.zip.CRC32;

import io.dlock.store.StorageKey;

/**
 * The Redis keys of a lock: {@code dlock:{b017}:lock:<key>} and
 * {@code dlock:{b017}:fence}. The bucket is the hash tag, so that a lock and its fence
 * share a Cluster slot, and there are never more fences than buckets.
 *
 * @param bucket the beginning of all names of the bucket
 * @param storageKey the storage key
 */
record RedisKeys(String bucket, String storageKey) {

	static final int BUCKETS = 1024;

	private static final String[] BUCKET_NAMES = IntStream.range(0, BUCKETS)
		.mapToObj((bucket) -> String.format(Locale.ROOT, "b%03d", bucket))
		.toArray(String[]::new);

	private static final String LOCK = "}:lock:";

	byte[] lock() {
		return ascii(this.bucket + "lock:" + this.storageKey);
	}

	byte[] fence() {
		return ascii(this.bucket + "fence");
	}

	byte[] era() {
		return ascii(this.bucket + "era");
	}

	static RedisKeys of(String prefix, String key) {
		return ofStorageKey(prefix, StorageKey.of(key));
	}

	static RedisKeys ofStorageKey(String prefix, String storageKey) {
		CRC32 crc = new CRC32();
		crc.update(ascii(storageKey));
		return new RedisKeys(bucket(prefix, (int) (crc.getValue() % BUCKETS)), storageKey);
	}

	private static String bucket(String prefix, int bucket) {
		return prefix + ":{" + BUCKET_NAMES[bucket] + "}:";
	}

	/**
	 * The fence of a bucket.
	 * @param prefix the prefix of all names
	 * @param bucket the number of the bucket
	 * @return its name
	 */
	static byte[] fence(String prefix, int bucket) {
		return ascii(bucket(prefix, bucket) + "fence");
	}

	/**
	 * A key whose lock is in a bucket.
	 * @param prefix the prefix of all names
	 * @param fence the fence of the bucket
	 * @param beginning the beginning of the key
	 * @return the key
	 */
	static String keyBeside(String prefix, byte[] fence, String beginning) {
		int number = 0;
		while (!Arrays.equals(of(prefix, beginning + number).fence(), fence)) {
			number++;
		}
		return beginning + number;
	}

	/**
	 * The note of a bucket about the history of its server.
	 * @param prefix the prefix of all names
	 * @param bucket the number of the bucket
	 * @return its name
	 */
	static byte[] era(String prefix, int bucket) {
		return ascii(bucket(prefix, bucket) + "era");
	}

	/**
	 * The names of all locks, as a pattern.
	 * @param prefix the prefix of all names, in which nothing has a meaning in patterns
	 * @return the pattern
	 */
	static byte[] allLocks(String prefix) {
		return ascii(prefix + ":{b*}:lock:*");
	}

	/**
	 * The storage key in the name of a lock.
	 * @param lock the name
	 */
	static String storageKey(String lock) {
		return lock.substring(lock.indexOf(LOCK) + LOCK.length());
	}

	private static byte[] ascii(String text) {
		return text.getBytes(StandardCharsets.US_ASCII);
	}

}
