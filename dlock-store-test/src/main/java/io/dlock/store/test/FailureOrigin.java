package io.dlock.store.test;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

/**
 * Adds the test class of the store to a failure, since most reports name the nested class
 * only, which all stores share.
 */
final class FailureOrigin implements TestExecutionExceptionHandler {

	@Override
	public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
		Object outermost = context.getRequiredTestInstances().getAllInstances().get(0);
		failure.addSuppressed(new AssertionError("The test is one of " + outermost.getClass().getName()));
		throw failure;
	}

}
