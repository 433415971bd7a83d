package io.dlock.autoconfigure;

import java.util.Locale;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.core.env.Environment;

import io.dlock.OnStoreFailure;

/**
 * What {@code dlock.on-store-failure} says. Read from the environment, because the
 * post-processor that needs it is created before the properties are.
 */
final class StoreFailurePolicy {

	private static final Log logger = LogFactory.getLog(StoreFailurePolicy.class);

	private static final String PROPERTY = "dlock.on-store-failure";

	private StoreFailurePolicy() {
	}

	static OnStoreFailure of(Environment environment) {
		OnStoreFailure policy = Binder.get(environment)
			.bind(PROPERTY, OnStoreFailure.class)
			.orElse(OnStoreFailure.THROW);
		if (policy == OnStoreFailure.PROCEED) {
			logger.warn(PROPERTY + " is 'proceed': while the lock store fails, "
					+ "@DistributedLocked methods run without their locks unless they say otherwise");
		}
		else if (policy != OnStoreFailure.THROW) {
			throw new FailureAnalyzedException(
					"The property %s is '%s'.".formatted(PROPERTY, policy.name().toLowerCase(Locale.ROOT)),
					"Use throw or proceed. A fallback is chosen by the method that names it: onStoreFailure = FALLBACK.");
		}
		return policy;
	}

}
