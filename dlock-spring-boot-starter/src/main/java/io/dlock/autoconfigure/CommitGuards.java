package io.dlock.autoconfigure;

import java.util.List;

import org.springframework.transaction.TransactionExecution;

import io.dlock.LockHandle;
import io.dlock.transaction.CommitGuard;

/**
 * Several guards as one. No lambda of a configuration class, because spring-tx may be
 * missing: Spring looks at the methods of such a class and at their parameters.
 *
 * @param guards the guards, in their order
 */
record CommitGuards(List<CommitGuard> guards) implements CommitGuard {

	@Override
	public void check(TransactionExecution transaction, LockHandle lock) {
		this.guards.forEach((guard) -> guard.check(transaction, lock));
	}

}
