package io.dlock.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

import io.dlock.aop.InvalidLockedMethodException;

/**
 * Describes an invalid annotated method and its remedy.
 */
class InvalidLockedMethodFailureAnalyzer extends AbstractFailureAnalyzer<InvalidLockedMethodException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, InvalidLockedMethodException cause) {
		return new FailureAnalysis(cause.description(), cause.action(), cause);
	}

}
