package io.dlock.torture.fault;

import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The resource that a fault is inflicted on. Two faults that need the same resource do
 * not overlap.
 */
public enum Scope {

	/**
	 * The process of a client.
	 */
	CLIENT("client-"),

	/**
	 * The life of a client: its process, and whatever happens in it.
	 */
	LIFE("client-"),

	/**
	 * The inside of a client, which may be stopped meanwhile, but lives.
	 */
	INSIDE("client-"),

	/**
	 * The inside of a client while all is well: nothing else that it could suffer from
	 * happens meanwhile, so that nothing excuses it.
	 */
	INSIDE_ALONE("client-"),

	/**
	 * The network of one client.
	 */
	LINK("client-"),

	/**
	 * The network of one node of a cluster.
	 */
	NODE_LINK("node-"),

	/**
	 * The network of all.
	 */
	LINKS("links"),

	/**
	 * A client and its network.
	 */
	CLIENT_AND_LINK("client-"),

	/**
	 * A client, while nothing else is broken.
	 */
	CLIENT_AND_NOTHING_ELSE("client-"),

	/**
	 * A process of the store.
	 */
	NODE("node-"),

	/**
	 * The store as a whole.
	 */
	STORE("store"),

	/**
	 * The store as a whole, while nothing else is broken.
	 */
	STORE_AND_NOTHING_ELSE("store"),

	/**
	 * The clock of a client.
	 */
	CLOCK("client-"),

	/**
	 * The network of all, and the clock of a node. Nodes may hang or restart meanwhile.
	 */
	LINKS_AND_STORE_CLOCK("store"),

	/**
	 * The machine.
	 */
	HOST("host");

	private final String prefix;

	Scope(String prefix) {
		this.prefix = prefix;
	}

	String target(int index) {
		return this.prefix.endsWith("-") ? this.prefix + index : this.prefix;
	}

	/**
	 * Name what a fault needs for itself.
	 * @param index the index of the target
	 * @param sizes how many targets there are
	 * @return the names
	 */
	List<String> resources(int index, Sizes sizes) {
		return switch (this) {
			case CLIENT -> List.of("process-" + index);
			case LIFE -> List.of("process-" + index, "inside-" + index);
			case INSIDE -> List.of("inside-" + index);
			case INSIDE_ALONE -> alone(index, sizes);
			case LINK, NODE_LINK -> List.of("link-" + index);
			case LINKS -> IntStream.range(0, sizes.links()).mapToObj((link) -> "link-" + link).toList();
			case CLIENT_AND_LINK -> List.of("process-" + index, "link-" + index);
			case CLIENT_AND_NOTHING_ELSE, STORE_AND_NOTHING_ELSE -> everything(sizes);
			case CLOCK -> List.of("clock-" + index);
			case LINKS_AND_STORE_CLOCK ->
				Stream.concat(LINKS.resources(index, sizes).stream(), Stream.of("store-clock")).toList();
			// an administrator can do nothing while a node hangs
			case NODE, STORE -> List.of("store");
			case HOST -> List.of("host");
		};
	}

	private static List<String> alone(int client, Sizes sizes) {
		return Stream.of(LIFE, CLOCK, LINKS_AND_STORE_CLOCK, STORE, HOST)
			.flatMap((scope) -> scope.resources(client, sizes).stream())
			.toList();
	}

	/**
	 * Clocks of clients are not in it: locks do not depend on them.
	 */
	private static List<String> everything(Sizes sizes) {
		return Stream
			.of(IntStream.range(0, sizes.clients()).mapToObj((client) -> "process-" + client),
					IntStream.range(0, sizes.clients()).mapToObj((client) -> "inside-" + client),
					IntStream.range(0, sizes.links()).mapToObj((link) -> "link-" + link),
					Stream.of("store", "store-clock", "host"))
			.flatMap(Function.identity())
			.toList();
	}

	/**
	 * Count the targets.
	 * @param sizes how many of each kind there are
	 * @return how many of this scope
	 */
	int count(Sizes sizes) {
		return switch (this) {
			case CLIENT, LIFE, INSIDE, INSIDE_ALONE, CLIENT_AND_NOTHING_ELSE, CLOCK -> sizes.clients();
			case LINK, NODE_LINK -> sizes.links();
			case CLIENT_AND_LINK -> Math.min(sizes.clients(), sizes.links());
			case NODE -> sizes.nodes();
			case LINKS, STORE, STORE_AND_NOTHING_ELSE, LINKS_AND_STORE_CLOCK, HOST -> 1;
		};
	}

	/**
	 * How many targets there are.
	 *
	 * @param clients the clients
	 * @param links the proxies
	 * @param nodes the processes of the store
	 */
	public record Sizes(int clients, int links, int nodes) {

	}

}
