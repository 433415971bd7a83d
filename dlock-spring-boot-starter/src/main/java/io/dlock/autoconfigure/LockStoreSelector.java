package io.dlock.autoconfigure;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalyzedException;

import io.dlock.store.memory.MemoryLockStore;

/**
 * Selects the backend: the configured one, or the only one that is possible. It never
 * falls back to memory.
 */
final class LockStoreSelector {

	private final List<LockStoreCandidate<?>> candidates;

	LockStoreSelector(Stream<LockStoreCandidate<?>> candidates) {
		this.candidates = candidates.sorted(Comparator.comparing(LockStoreCandidate<?>::backend)).toList();
	}

	/**
	 * Select the backend.
	 * @param backend the configured backend, or {@code null}
	 * @param nodes the nodes of a quorum
	 */
	LockStoreCandidate<?> select(@Nullable DlockBackend backend, List<String> nodes) {
		if (backend == DlockBackend.MEMORY) {
			return new LockStoreCandidate<>(backend, "memory", DlockBackend.class, () -> backend,
					(memory) -> new MemoryLockStore());
		}
		if (backend == null && !nodes.isEmpty()) {
			throw new FailureAnalyzedException("dlock.quorum.nodes has servers, but dlock.backend is not set.",
					"Set dlock.backend=quorum, or remove dlock.quorum.nodes.");
		}
		return (backend != null) ? configured(backend) : onlyPossible();
	}

	private LockStoreCandidate<?> configured(DlockBackend backend) {
		return this.candidates.stream()
			.filter((candidate) -> candidate.backend() == backend)
			.findFirst()
			.orElseThrow(() -> new FailureAnalyzedException(
					"dlock.backend is '%s', but the application has no %s.".formatted(name(backend), needed(backend)),
					"Add " + starter(backend) + " and configure it, or choose another dlock.backend."));
	}

	private LockStoreCandidate<?> onlyPossible() {
		if (this.candidates.isEmpty()) {
			throw new FailureAnalyzedException(
					"dlock has no store for its locks: the application has neither a RedisConnectionFactory nor a DataSource.",
					"Add spring-boot-starter-data-redis or spring-boot-starter-jdbc and configure it. "
							+ "For an application of a single instance, set dlock.backend=memory.");
		}
		if (this.candidates.size() > 1) {
			String found = this.candidates.stream().map(LockStoreCandidate::found).collect(Collectors.joining(" and "));
			String choices = this.candidates.stream()
				.map((candidate) -> "dlock.backend=" + name(candidate.backend()))
				.collect(Collectors.joining(" or "));
			throw new FailureAnalyzedException(
					"dlock does not know where to keep its locks: the application has " + found + ".",
					"Set " + choices + ".");
		}
		return this.candidates.get(0);
	}

	private static String name(DlockBackend backend) {
		return backend.name().toLowerCase(Locale.ROOT);
	}

	private static String needed(DlockBackend backend) {
		return switch (backend) {
			case REDIS -> "RedisConnectionFactory";
			case QUORUM -> "Lettuce";
			default -> "DataSource";
		};
	}

	private static String starter(DlockBackend backend) {
		return (backend == DlockBackend.JDBC) ? "spring-boot-starter-jdbc" : "spring-boot-starter-data-redis";
	}

}
