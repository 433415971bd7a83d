package io.dlock.torture.server;

import java.util.Arrays;
import java.util.Locale;
import java.util.Set;

/**
 * The stores that clients can be tortured on.
 */
public enum StoreType {

	REDIS(Access.REDIS, Ability.MESSAGES, Ability.KINDS, Ability.MANY_LOCKS, Ability.QUARANTINE),

	REDIS_SENTINEL(Access.REDIS, Ability.MESSAGES, Ability.KINDS, Ability.MANY_LOCKS, Ability.QUARANTINE,
			Ability.ADDRESSES),

	REDIS_CLUSTER(Access.REDIS, Ability.MESSAGES, Ability.KINDS, Ability.MANY_LOCKS, Ability.QUARANTINE,
			Ability.ADDRESSES),

	REDIS_QUORUM(Access.EACH_REDIS, Ability.QUARANTINE, Ability.ADDRESSES),

	POSTGRES(Access.DATABASE, Ability.MESSAGES, Ability.KINDS, Ability.MANY_LOCKS, Ability.QUARANTINE),

	MARIADB(Access.DATABASE, Ability.KINDS, Ability.MANY_LOCKS);

	private final Access access;

	@SuppressWarnings("ImmutableEnumChecker") // a copy that nothing changes
	private final Set<Ability> abilities;

	StoreType(Access access, Ability... abilities) {
		this.access = access;
		this.abilities = Set.of(abilities);
	}

	public String label() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

	/**
	 * Find a type by its label.
	 * @param label the label
	 * @return the type
	 */
	public static StoreType of(String label) {
		return Arrays.stream(values())
			.filter((type) -> type.label().equals(label))
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException("No store is called " + label));
	}

	/**
	 * The connections of an idle process: those of the application, one of the locks, and
	 * one for messages where the database sends them.
	 * @return the number, or zero if the processes say how many there are
	 */
	public int idleConnections() {
		return switch (this) {
			case POSTGRES -> 6;
			case MARIADB -> 5;
			default -> 0;
		};
	}

	public Access access() {
		return this.access;
	}

	public boolean isRedis() {
		return this.access != Access.DATABASE;
	}

	public boolean has(Ability ability) {
		return this.abilities.contains(ability);
	}

	/**
	 * The connections that a client has.
	 */
	public enum Access {

		/** One connection for all threads, to each node that it needs. */
		REDIS,

		/** One connection to each of several stores, which are asked together. */
		EACH_REDIS,

		/** A pool. */
		DATABASE

	}

	/**
	 * Something that not every store can do.
	 */
	public enum Ability {

		/** It tells a process that it is its turn. */
		MESSAGES,

		/** It has shared, limited and fair locks. */
		KINDS,

		/** It renews thousands of locks at a time. */
		MANY_LOCKS,

		/**
		 * It can grant no lock for a while when it may have forgotten some.
		 */
		QUARANTINE,

		/**
		 * It tells clients, or they are told, the addresses of its processes, so that the
		 * proxies are before these and not before the clients.
		 */
		ADDRESSES

	}

}
