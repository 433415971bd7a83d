package io.dlock.observation;

import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;

import io.dlock.LockBusyException;
import io.dlock.LockSet;
import io.dlock.observation.LockCallObservationContext.Outcome;
import io.dlock.observation.LockObservationDocumentation.Events;

/**
 * A call of a locked method as an {@link Observation}, whose failures concern neither the
 * call nor its lock.
 */
final class MicrometerCallObservation implements CallObservation {

	private final ObservationRegistry registry;

	private final Observation observation;

	private final LockCallObservationContext context;

	private final Consumer<Throwable> onFailure;

	private final AtomicBoolean ended = new AtomicBoolean();

	private final AtomicBoolean lost = new AtomicBoolean();

	/**
	 * Create the observation of a call.
	 * @param observation the observation, which has been started
	 * @param onFailure takes the failures of the observation
	 */
	MicrometerCallObservation(ObservationRegistry registry, Observation observation, LockCallObservationContext context,
			Consumer<Throwable> onFailure) {
		this.registry = registry;
		this.observation = observation;
		this.context = context;
		this.onFailure = onFailure;
	}

	@Override
	public Object value() {
		return this.observation;
	}

	@Override
	public Scope open() {
		Observation.Scope outer = this.registry.getCurrentObservationScope();
		try {
			Observation.Scope scope = this.observation.openScope();
			return () -> close(scope, outer);
		}
		catch (VirtualMachineError ex) {
			throw ex;
		}
		catch (Throwable ex) {
			this.onFailure.accept(ex);
			safely(() -> this.registry.setCurrentObservationScope(outer));
			return Scope.NONE;
		}
	}

	/**
	 * A scope that fails may stay where it is, for all that the thread does afterwards.
	 */
	private void close(Observation.Scope scope, Observation.@Nullable Scope outer) {
		safely(scope::close);
		if (this.registry.getCurrentObservationScope() == scope) {
			safely(() -> this.registry.setCurrentObservationScope(outer));
		}
	}

	@Override
	public void acquired(LockSet locks, List<Long> tokens) {
		this.context.setTokens(tokens);
		safely(() -> this.observation.event(Events.ACQUIRED));
		locks.onLost((lostHandle) -> lost());
	}

	@Override
	public void lost() {
		if (this.lost.compareAndSet(false, true) && !this.ended.get()) {
			safely(() -> this.observation.event(Events.LOST));
		}
	}

	@Override
	public void refused(Throwable reason, boolean failOpen) {
		this.context.setOutcome(
				(reason instanceof LockBusyException) ? Outcome.BUSY : failOpen ? Outcome.UNLOCKED : Outcome.FAILED);
	}

	@Override
	public void end(@Nullable Throwable failure) {
		end(failure, failure instanceof CancellationException);
	}

	@Override
	public void cancelled() {
		end(null, true);
	}

	private void end(@Nullable Throwable failure, boolean cancelled) {
		if (!this.ended.compareAndSet(false, true)) {
			return;
		}
		if (this.context.getOutcome() == Outcome.UNKNOWN) {
			this.context.setOutcome(this.lost.get() ? Outcome.LOST
					: cancelled ? Outcome.CANCELLED : (failure != null) ? Outcome.ERROR : Outcome.SUCCESS);
		}
		if (failure != null) {
			safely(() -> this.observation.error(failure));
		}
		safely(this.observation::stop);
	}

	private void safely(Runnable action) {
		try {
			action.run();
		}
		catch (VirtualMachineError ex) {
			throw ex;
		}
		catch (Throwable ex) {
			this.onFailure.accept(ex);
		}
	}

}
