package io.dlock.torture.fault;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.dlock.test.TcpProxy;
import io.dlock.torture.server.StoreStub;
import io.dlock.torture.server.StoreType;
import io.dlock.torture.server.StoreUnderTest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link FaultCatalogue}.
 */
class FaultCatalogueTests {

	@Test
	void sentinelKeepsItsMasterInTierSWhateverTheNetworkDoes() {
		try (TcpProxy link = TcpProxy.to("127.0.0.1", 1)) {
			assertThat(names(store(StoreType.REDIS_SENTINEL, List.of(link)), Tier.S))
				.contains("drop-replies", "black-hole", "cut-replies", "down", "pause", "no-memory-for-writes")
				.doesNotContain("failover", "two-masters");
		}
	}

	@Test
	void sentinelFailsOverInTierLForNoOtherReasonThanTheNemesis() {
		assertThat(names(store(StoreType.REDIS_SENTINEL, List.of()), Tier.L))
			.contains("failover", "failover-loses-tail", "two-masters")
			.doesNotContain("drop-replies", "black-hole", "down");
	}

	@Test
	void standbyOfPostgresIsPromotedOnlyWhereSomethingMayBeLost() {
		assertThat(names(store(StoreType.POSTGRES, List.of()), Tier.S)).doesNotContain("promote-standby");
		assertThat(names(store(StoreType.POSTGRES, List.of()), Tier.L)).contains("promote-standby");
		assertThat(names(store(StoreType.MARIADB, List.of()), Tier.L)).doesNotContain("promote-standby");
	}

	@Test
	void databasesAreDemotedInPlaceAndHaveSlowCommitsWhereCommitsWait() {
		for (StoreType type : new StoreType[] { StoreType.POSTGRES, StoreType.MARIADB }) {
			assertThat(names(store(type, List.of()), Tier.S)).contains("slow-commit", "demoted-in-place",
					"credentials-rotated");
		}
		assertThat(names(store(StoreType.POSTGRES, List.of()), Tier.L)).doesNotContain("slow-commit")
			.contains("demoted-in-place");
	}

	@Test
	void subscriptionsFallSilentWhereThereAreAny() {
		try (TcpProxy link = TcpProxy.to("127.0.0.1", 1)) {
			for (StoreType type : StoreType.values()) {
				boolean messages = names(store(type, List.of(link)), Tier.S).contains("silent-subscription");
				assertThat(messages).as(type.label()).isEqualTo(type.has(StoreType.Ability.MESSAGES));
			}
		}
	}

	@Test
	void nodesOfAQuorumForgetInTierS() {
		assertThat(quarantined(StoreType.REDIS_QUORUM))
			.contains("node-forgets", "minority-forgets", "all-forget", "minority-is-cut-off")
			.doesNotContain("evict", "flush-all");
	}

	@Test
	void quarantineMovesWhatTheStoreCanKnowToTierS() {
		assertThat(quarantined(StoreType.REDIS)).contains("forgetful-restart", "flush-all", "pause")
			.doesNotContain("down", "evict", "delete-locks");
		assertThat(quarantined(StoreType.REDIS_SENTINEL)).contains("failover", "failover-loses-tail", "switch-over",
				"two-masters", "replica-lags");
		assertThat(quarantined(StoreType.REDIS_CLUSTER))
			.contains("failover", "failover-loses-tail", "switch-over", "two-masters", "replica-lags", "move-slots",
					"forgetful-restart", "flush-all")
			.doesNotContain("down", "evict", "delete-locks");
	}

	/**
	 * A row that is deleted leaves no trace, and MariaDB has no quarantine.
	 */
	@Test
	void quarantineMovesThePromotionOfAStandbyToTierS() {
		assertThat(quarantined(StoreType.POSTGRES))
			.contains("promote-standby", "kill-and-restart", "down", "pause", "slow-commit", "demoted-in-place")
			.doesNotContain("delete-rows");
		assertThat(StoreType.MARIADB.has(StoreType.Ability.QUARANTINE)).isFalse();
	}

	@Test
	void clockOfOneNodeJumpsInTierSOnlyWhereTheQuorumExpectsIt(@TempDir Path directory) {
		assertThat(names(store(StoreType.REDIS_QUORUM, List.of()), Tier.S)).doesNotContain("wrong-clock");
		ClockOffset clock = new ClockOffset(new ClockShim(directory), directory.resolve("clock"));
		for (Tier tier : Tier.values()) {
			Bed bed = new Bed(store(StoreType.REDIS_QUORUM, List.of()), List.of(), List.of(), List.of(),
					Optional.of(clock), Duration.ofSeconds(1), Duration.ofSeconds(2));
			assertThat(FaultCatalogue.of(bed, tier)).filteredOn((fault) -> fault.id().equals("F18"))
				.singleElement()
				.satisfies((fault) -> assertThat(fault.tier()).isEqualTo(tier))
				.satisfies((fault) -> assertThat(fault.scope()).isEqualTo(Scope.LINKS_AND_STORE_CLOCK));
		}
	}

	private static List<String> quarantined(StoreType type) {
		List<FaultType> faults = faults(store(type, List.of()), Tier.S, Duration.ofSeconds(2));
		assertThat(faults).allMatch((fault) -> fault.tier() == Tier.S);
		return faults.stream().map(FaultType::name).toList();
	}

	@Test
	void diskIsFullOnlyWhereThereIsOneOfItsOwn() {
		assertThat(names(store(StoreType.REDIS, List.of()), Tier.S)).noneMatch((name) -> name.startsWith("disk-full"));
	}

	private static StoreUnderTest store(StoreType type, List<TcpProxy> links) {
		return new StoreStub(type, links, Map.of());
	}

	private static List<String> names(StoreUnderTest store, Tier tier) {
		return faults(store, tier, Duration.ZERO).stream().map(FaultType::name).toList();
	}

	private static List<FaultType> faults(StoreUnderTest store, Tier tier, Duration quarantine) {
		Bed bed = new Bed(store, List.of(), List.of(), store.links(), Optional.empty(), Duration.ofSeconds(1),
				quarantine);
		return FaultCatalogue.of(bed, tier);
	}

}
