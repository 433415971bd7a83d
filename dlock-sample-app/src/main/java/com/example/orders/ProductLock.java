package com.example.orders;

import java.time.Instant;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

import io.dlock.LockInfo;

/**
 * The holder of the lock of a product; the other values are null if it is free.
 *
 * @param product the product
 * @param holder the instance and thread
 * @param reason why the lock was taken
 * @param since when the lock was taken
 * @param until when it ends unless it is renewed
 * @param token the fencing token
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record ProductLock(String product, @Nullable String holder, @Nullable String reason, @Nullable Instant since,
		@Nullable Instant until, @Nullable String token) {

	static ProductLock free(String product) {
		return new ProductLock(product, null, null, null, null, null);
	}

	static ProductLock held(String product, LockInfo lock) {
		return new ProductLock(product, lock.holder(), lock.reason(), lock.since(), lock.until(),
				Long.toString(lock.token()));
	}

}
