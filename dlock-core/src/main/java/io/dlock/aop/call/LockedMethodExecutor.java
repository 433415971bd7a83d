package io.dlock.aop.call;

import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.support.ContextPropagatingTaskDecorator;
import org.springframework.util.ClassUtils;

/**
 * Runs methods that return a stage or a publisher once their lock is granted: on virtual
 * threads, or on Java 17 on as many threads as there are running methods. There is no
 * limit, because a method that holds a lock and waits for a thread could wait for threads
 * that wait for that lock. A scheduler of Reactor has such a limit. Internal to the
 * library.
 */
public final class LockedMethodExecutor {

	private static final Log logger = LogFactory.getLog(LockedMethodExecutor.class);

	private static final String NAME = "dlock-body-";

	private static final int FIRST_WITH_VIRTUAL_THREADS = 21;

	private static final Executor EXECUTOR = (Runtime.version().feature() >= FIRST_WITH_VIRTUAL_THREADS)
			? virtualThreads() : platformThreads();

	private static final TaskDecorator CONTEXT = ClassUtils.isPresent("io.micrometer.context.ContextSnapshot",
			LockedMethodExecutor.class.getClassLoader()) ? new ContextPropagatingTaskDecorator() : (task) -> task;

	private LockedMethodExecutor() {
	}

	/**
	 * Java 17 has no method for it. Virtual threads of Spring inherit the thread-locals
	 * of the thread that starts them.
	 */
	private static Executor virtualThreads() {
		try {
			Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
			Class<?> type = Class.forName("java.lang.Thread$Builder$OfVirtual");
			type.getMethod("name", String.class, long.class).invoke(builder, NAME, 1L);
			type.getMethod("inheritInheritableThreadLocals", boolean.class).invoke(builder, false);
			ThreadFactory threads = (ThreadFactory) type.getMethod("factory").invoke(builder);
			return (task) -> threads.newThread(task).start();
		}
		catch (ReflectiveOperationException ex) {
			logger.debug("Locked methods run on platform threads", ex);
			return platformThreads();
		}
	}

	/**
	 * A thread serves one caller after another: it inherits no thread-locals of the
	 * first, such as its user.
	 */
	private static Executor platformThreads() {
		AtomicInteger count = new AtomicInteger();
		return new ThreadPoolExecutor(0, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), (task) -> {
			Thread thread = new Thread(null, task, NAME + count.incrementAndGet(), 0, false);
			thread.setDaemon(true);
			return thread;
		});
	}

	static void execute(Runnable task) {
		EXECUTOR.execute(task);
	}

	/**
	 * Run a task that must be run, on the calling thread if there is no other.
	 * @param task the task
	 */
	public static void executeOrRun(Runnable task) {
		try {
			execute(task);
		}
		catch (Throwable ex) {
			logger.debug("No thread could be started", ex);
			task.run();
		}
	}

	/**
	 * Make a task see what its creator sees: the class loader, and with Micrometer's
	 * context propagation all registered values, such as the trace.
	 * @param task the task
	 * @return the task for another thread
	 */
	static Runnable inContext(Runnable task) {
		Runnable inContext = propagating(task);
		ClassLoader loader = Thread.currentThread().getContextClassLoader();
		return () -> {
			Thread thread = Thread.currentThread();
			ClassLoader own = thread.getContextClassLoader();
			thread.setContextClassLoader(loader);
			try {
				inContext.run();
			}
			finally {
				thread.setContextClassLoader(own);
			}
		};
	}

	/**
	 * A participant of the propagation may fail, but the task has to run: it may be the
	 * one that releases a lock.
	 */
	private static Runnable propagating(Runnable task) {
		AtomicBoolean begun = new AtomicBoolean();
		Runnable once = () -> {
			if (begun.compareAndSet(false, true)) {
				task.run();
			}
		};
		Runnable propagating = once;
		try {
			propagating = CONTEXT.decorate(once);
		}
		catch (RuntimeException ex) {
			logger.warn("A locked method runs without the context of its caller, which cannot be captured", ex);
		}
		Runnable decorated = propagating;
		return () -> {
			try {
				decorated.run();
			}
			catch (RuntimeException ex) {
				logger.warn("The context of the caller of a locked method cannot be restored or cleared again", ex);
			}
			finally {
				once.run();
			}
		};
	}

}
