package io.dlock.aop.call;

import java.util.concurrent.locks.ReentrantLock;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import io.dlock.LockSet;

/**
 * Interrupts a method that lost its lock, and nothing else: not the thread once it has
 * moved on.
 */
final class InterruptibleMethod {

	private static final ThreadLocal<@Nullable InterruptibleMethod> INNERMOST = new ThreadLocal<>();

	private final ReentrantLock state = new ReentrantLock();

	private final LockSet locks;

	/** The locked method that called this one. */
	private @Nullable InterruptibleMethod outer;

	private @Nullable Thread running;

	private boolean interrupted;

	InterruptibleMethod(LockSet locks) {
		this.locks = locks;
	}

	@Nullable Object run(MethodInvocation invocation) throws Throwable {
		this.outer = INNERMOST.get();
		INNERMOST.set(this);
		this.running = Thread.currentThread();
		try {
			this.locks.onLost((lost) -> interrupt());
			return invocation.proceed();
		}
		finally {
			end();
		}
	}

	private void interrupt() {
		this.state.lock();
		try {
			if (this.running != null) {
				this.interrupted = true;
				this.running.interrupt();
			}
		}
		finally {
			this.state.unlock();
		}
	}

	private void end() {
		this.state.lock();
		try {
			this.running = null;
			if (this.interrupted) {
				// the interrupt was for the method, whose caller gets a LockLostException
				Thread.interrupted();
			}
		}
		finally {
			this.state.unlock();
		}
		leave();
	}

	/**
	 * Pass an interrupt on to the methods around this one. They may have been interrupted
	 * for locks of their own, and this one may have cleared the flag.
	 */
	private void leave() {
		if (this.outer == null) {
			INNERMOST.remove();
			return;
		}
		INNERMOST.set(this.outer);
		for (InterruptibleMethod body = this.outer; body != null; body = body.outer) {
			body.repeatInterrupt();
		}
	}

	private void repeatInterrupt() {
		this.state.lock();
		try {
			if (this.interrupted) {
				Thread.currentThread().interrupt();
			}
		}
		finally {
			this.state.unlock();
		}
	}

}
