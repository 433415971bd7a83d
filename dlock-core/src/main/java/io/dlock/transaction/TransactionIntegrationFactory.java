package io.dlock.transaction;

import java.util.concurrent.Executor;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * Creates the {@link TransactionIntegration} that the class path allows. Internal to the
 * library.
 */
public final class TransactionIntegrationFactory {

	private static final boolean SPRING_TX = ClassUtils.isPresent(
			"org.springframework.transaction.TransactionExecutionListener",
			TransactionIntegrationFactory.class.getClassLoader());

	private TransactionIntegrationFactory() {
	}

	/**
	 * Create the integration.
	 * @param inside the rule for a method that is called inside a transaction
	 * @param commitCheck whether the locks are checked before a commit
	 * @param guard an additional check before a commit, or {@code null}
	 * @param executor releases locks where the calling thread must not block
	 * @return the integration, {@link TransactionIntegration#NONE} without spring-tx
	 */
	public static TransactionIntegration create(InsideTransaction inside, boolean commitCheck,
			@Nullable Supplier<? extends CommitGuard> guard, Executor executor) {
		return SPRING_TX ? new SpringTransactionIntegration(inside, commitCheck, guard, executor)
				: TransactionIntegration.NONE;
	}

}
