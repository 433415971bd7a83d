package io.dlock.observation;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.micrometer.observation.Observation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.util.function.SingletonSupplier;

/**
 * Starts the observation of calls. A failure of an observation is logged, and concerns
 * neither the call nor its lock. Internal to the library.
 */
public final class CallObservationFactory {

	private static final Log logger = LogFactory.getLog(CallObservationFactory.class);

	private static final LockCallObservationConvention DEFAULT_CONVENTION = new DefaultLockCallObservationConvention();

	private final Supplier<LockObservationSettings> observations;

	private final AtomicBoolean warned = new AtomicBoolean();

	public CallObservationFactory(Supplier<LockObservationSettings> observations) {
		this.observations = SingletonSupplier.of(observations);
	}

	/**
	 * Start the observation of a call that is about to ask for its lock.
	 * @param name the name of the lock
	 * @param keys the keys
	 * @param parent the observation that it is part of, or {@code null} for the current
	 * one of the thread
	 * @return the observation of the call
	 */
	public CallObservation start(String name, List<String> keys, @Nullable Object parent) {
		LockObservationSettings how = this.observations.get();
		if (how.registry().isNoop()) {
			return CallObservation.NONE;
		}
		try {
			String shown = keys.stream().map(how.keys()).collect(Collectors.joining(", "));
			LockCallObservationContext context = new LockCallObservationContext(name, shown, how.backend());
			Observation observation = Observation.createNotStarted(how.convention(), DEFAULT_CONVENTION, () -> context,
					how.registry());
			if (parent instanceof Observation outer) {
				observation.parentObservation(outer);
			}
			return new MicrometerCallObservation(how.registry(), observation.start(), context, this::failed);
		}
		catch (VirtualMachineError ex) {
			throw ex;
		}
		catch (Throwable ex) {
			failed(ex);
			return CallObservation.NONE;
		}
	}

	private void failed(Throwable ex) {
		String message = "The observation of a locked method failed, which changes nothing for the method and its lock";
		if (this.warned.compareAndSet(false, true)) {
			logger.warn(message + "; further failures are logged at debug level", ex);
		}
		else {
			logger.debug(message, ex);
		}
	}

}
