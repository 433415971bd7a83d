package io.dlock.autoconfigure;

import org.springframework.context.ApplicationEventPublisher;

import io.dlock.LockEvent;
import io.dlock.LockListener;

/**
 * Publishes lock events as application events.
 */
final class LockEventPublisher implements LockListener {

	private final ApplicationEventPublisher publisher;

	LockEventPublisher(ApplicationEventPublisher publisher) {
		this.publisher = publisher;
	}

	@Override
	public void onEvent(LockEvent event) {
		this.publisher.publishEvent(event);
	}

}
