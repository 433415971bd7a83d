package io.dlock.observation;

import io.micrometer.common.KeyValues;

import io.dlock.observation.LockCallContext.Outcome;
import io.dlock.observation.LockObservation.HighCardinalityKeyNames;
import io.dlock.observation.LockObservation.LowCardinalityKeyNames;

/**
 * The names and tags of {@link LockObservation}. The key, which may be personal, is on
 * spans only; a subclass that overrides {@link #getHighCardinalityKeyValues} keeps it off
 * them. The outcome is there when the call has ended: events before that have none.
 *
 * @since 0.1
 */
public class DefaultLockCallConvention implements LockCallConvention {

	@Override
	public String getName() {
		return LockObservation.NAME;
	}

	@Override
	public String getContextualName(LockCallContext context) {
		return "lock " + context.getLockName();
	}

	@Override
	public KeyValues getLowCardinalityKeyValues(LockCallContext context) {
		KeyValues values = KeyValues.of(LowCardinalityKeyNames.NAME.withValue(context.getLockName()),
				LowCardinalityKeyNames.BACKEND.withValue(context.getBackend()));
		return (context.getOutcome() != Outcome.UNKNOWN)
				? values.and(LowCardinalityKeyNames.OUTCOME.withValue(context.getOutcome().tag())) : values;
	}

	@Override
	public KeyValues getHighCardinalityKeyValues(LockCallContext context) {
		KeyValues values = KeyValues.of(HighCardinalityKeyNames.KEY.withValue(context.getKey()));
		Long token = context.getToken();
		return (token != null) ? values.and(HighCardinalityKeyNames.TOKEN.withValue(token.toString())) : values;
	}

}
