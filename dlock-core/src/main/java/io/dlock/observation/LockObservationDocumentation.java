package io.dlock.observation;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.docs.ObservationDocumentation;

/**
 * The observations of dlock.
 *
 * @since 0.1
 */
public enum LockObservationDocumentation implements ObservationDocumentation {

	/**
	 * A call of a locked method, from before the request for the lock until after its
	 * release: for methods that return a stage until that completes, for publishers one
	 * for each subscription. The method is called inside of it.
	 */
	CALL {

		@Override
		public String getName() {
			return NAME;
		}

		@Override
		public KeyName[] getLowCardinalityKeyNames() {
			return LowCardinalityKeyNames.values();
		}

		@Override
		public KeyName[] getHighCardinalityKeyNames() {
			return HighCardinalityKeyNames.values();
		}

		@Override
		public Observation.Event[] getEvents() {
			return Events.values();
		}

	};

	static final String NAME = "dlock.call";

	/**
	 * On spans and meters.
	 */
	public enum LowCardinalityKeyNames implements KeyName {

		/** The {@code name} of the annotation, or else {@code Class.method}. */
		NAME {

			@Override
			public String asString() {
				return "name";
			}

		},

		/** The {@link LockCallObservationContext.Outcome}, once the call has ended. */
		OUTCOME {

			@Override
			public String asString() {
				return "outcome";
			}

		},

		/** The kind of lock store: {@code redis}, {@code jdbc}, {@code memory}. */
		BACKEND {

			@Override
			public String asString() {
				return "backend";
			}

		}

	}

	/**
	 * On spans only.
	 */
	public enum HighCardinalityKeyNames implements KeyName {

		/** The key, or its hash; several with a comma between them. */
		KEY {

			@Override
			public String asString() {
				return "dlock.key";
			}

		},

		/**
		 * The fencing token, once the lock is held; that of each key with a comma between
		 * them.
		 */
		TOKEN {

			@Override
			public String asString() {
				return "dlock.token";
			}

		}

	}

	/**
	 * The events of an observation.
	 */
	public enum Events implements Observation.Event {

		/** The lock is held: up to now was the wait, from now on the method runs. */
		ACQUIRED {

			@Override
			public String getName() {
				return "acquired";
			}

		},

		/** The lock was lost, while the method runs. */
		LOST {

			@Override
			public String getName() {
				return "lost";
			}

		}

	}

}
