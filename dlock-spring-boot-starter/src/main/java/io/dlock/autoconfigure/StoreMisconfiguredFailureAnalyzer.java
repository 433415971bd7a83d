package io.dlock.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

import io.dlock.store.StoreMisconfiguredException;

/**
 * Describes a store of the application that cannot be used as it is configured, and the
 * remedy.
 */
class StoreMisconfiguredFailureAnalyzer extends AbstractFailureAnalyzer<StoreMisconfiguredException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, StoreMisconfiguredException cause) {
		return new FailureAnalysis(cause.description(), cause.action(), cause);
	}

}
