package io.dlock.transaction;

import java.lang.reflect.Method;
import java.util.concurrent.Callable;

import net.bytebuddy.ByteBuddy;
import net.bytebuddy.dynamic.loading.ClassLoadingStrategy;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.dlock.test.CapturedLog;
import io.dlock.test.ReducedClassPath;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Warnings of an {@code EntityManager} that is open before the lock is taken, with a
 * stand-in for the class of spring-orm, which is no library of the core.
 */
class OpenEntityManagerWarningTests {

	/**
	 * Calls of two methods while the thread holds their locks and while it does not.
	 */
	public static final class Calls implements Callable<String> {

		@Override
		public String call() throws Exception {
			Class<?> holder = new ByteBuddy().subclass(Object.class)
				.name("org.springframework.orm.jpa.EntityManagerHolder")
				.make()
				.load(getClass().getClassLoader(), ClassLoadingStrategy.Default.INJECTION)
				.getLoaded();
			Method call = Calls.class.getMethod("call");
			OpenEntityManagerWarning warning = new OpenEntityManagerWarning();
			try (CapturedLog log = CapturedLog.of(OpenEntityManagerWarning.class)) {
				warning.check(call, () -> false);
				int closed = log.messages().size();
				TransactionSynchronizationManager.bindResource("factory",
						holder.getDeclaredConstructor().newInstance());
				warning.check(call, () -> true);
				int held = log.messages().size();
				warning.check(call, () -> false);
				warning.check(call, () -> false);
				return closed + " " + held + " " + log.messages();
			}
			finally {
				TransactionSynchronizationManager.unbindResourceIfPossible("factory");
			}
		}

	}

	@Test
	void methodWhoseLockIsNotHeldYetIsWarnedOfOnce() throws Exception {
		assertThat(ReducedClassPath.call("none", Calls.class)).asString()
			.matches("0 0 \\[[^\\[]*Calls\\.call was called while an EntityManager is open[^\\[]*\\]")
			.containsOnlyOnce("was called");
	}

}
