package io.dlock.observation;

import java.util.List;
import java.util.stream.Collectors;

import io.micrometer.common.KeyValues;

import io.dlock.observation.LockCallObservationContext.Outcome;
import io.dlock.observation.LockObservationDocumentation.HighCardinalityKeyNames;
import io.dlock.observation.LockObservationDocumentation.LowCardinalityKeyNames;

/**
 * The names and tags of {@link LockObservationDocumentation}. The key, which may be
 * personal, is on spans only; a subclass that overrides
 * {@link #getHighCardinalityKeyValues} keeps it off them. The outcome is there when the
 * call has ended: events before that have none.
 *
 * @since 0.1
 */
public class DefaultLockCallObservationConvention implements LockCallObservationConvention {

	@Override
	public String getName() {
		return LockObservationDocumentation.NAME;
	}

	@Override
	public String getContextualName(LockCallObservationContext context) {
		return "lock " + context.getLockName();
	}

	@Override
	public KeyValues getLowCardinalityKeyValues(LockCallObservationContext context) {
		KeyValues values = KeyValues.of(LowCardinalityKeyNames.NAME.withValue(context.getLockName()),
				LowCardinalityKeyNames.BACKEND.withValue(context.getBackend()));
		return (context.getOutcome() != Outcome.UNKNOWN)
				? values.and(LowCardinalityKeyNames.OUTCOME.withValue(context.getOutcome().tag())) : values;
	}

	@Override
	public KeyValues getHighCardinalityKeyValues(LockCallObservationContext context) {
		KeyValues values = KeyValues.of(HighCardinalityKeyNames.KEY.withValue(context.getKey()));
		List<Long> tokens = context.getTokens();
		return tokens.isEmpty() ? values : values.and(HighCardinalityKeyNames.TOKEN
			.withValue(tokens.stream().map(String::valueOf).collect(Collectors.joining(", "))));
	}

}
