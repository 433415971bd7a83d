package com.example.orders;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.stereotype.Component;

import io.dlock.LockEvent;
import io.dlock.LockListener;

/**
 * Warns an operator of orders that were refused or may have been taken without their
 * lock.
 */
@Component
class LockAlarms implements LockListener {

	private static final Log log = LogFactory.getLog(LockAlarms.class);

	@Override
	public void onEvent(LockEvent event) {
		if (event instanceof LockEvent.Lost lost) {
			log.warn("%s lost its lock after %d ms: %s".formatted(lost.name(), lost.held().toMillis(), lost.cause()));
		}
		else if (event instanceof LockEvent.StoreFailed failed) {
			log.warn("%s %s, because the locks could not be reached for %d ms".formatted(failed.name(),
					failed.failOpen() ? "ran without its lock" : "was refused", failed.waited().toMillis()));
		}
	}

}
