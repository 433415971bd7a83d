package io.dlock.torture.report;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.dlock.torture.history.Event;
import io.dlock.torture.history.HistoryHeader;
import io.dlock.torture.history.HistoryRecord;
import io.dlock.torture.history.HistoryRecord.Origin;
import io.dlock.torture.history.HistoryWriter;
import io.dlock.torture.judge.Verdict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link Compare} and {@link Summary}, with runs whose reports are written by
 * {@link Report}.
 */
class CompareTests {

	private static final long MS = 1_000_000;

	@TempDir
	private Path directory;

	private Path first;

	private Path second;

	@BeforeEach
	void runs() throws Exception {
		this.first = run("redis-1", "REDIS", 1, List.of());
		this.second = run("redis-2", "REDIS", 2, List.of("VIOLATION I11 rows", "FIGURES gone locks=3 connections=1"));
	}

	@Test
	void runsAreShownSideBySide() throws Exception {
		String table = Compare.table(List.of(Summary.read(this.first), Summary.read(this.second)));
		assertThat(table)
			.startsWith("| | dlock on redis | dlock on redis |\n| --- | --- | --- |\n".replace("| |", "|  |"))
			.contains("| runs, seeds | redis-1, 1 | redis-2, 2 |", "| tier, lease | S, PT1S | S, PT1S |",
					"| cycles | 2 | 2 |", "| faults | 1 | 1 |", "| I11 leak | 0 | 1 of 1 judged, 0.0 % excused |",
					"| I13 starvation | (0) | (0) |", "| left over: keys, connections, threads | 0, 0, 0 | 3, 1, 0 |",
					"| back after death, beyond the lease: p50, p99, max | -20, -20, -20 ms (1) | -20, -20, -20 ms (1) |",
					"| 99 of 100 within lease + 250 ms | met | met |")
			.containsPattern("verdict \\| INVALID: .*no write was rejected.* \\| BROKEN \\|");
	}

	@Test
	void runsOfOneKindAreAddedUp() throws Exception {
		Path other = run("mariadb-3", "MARIADB", 3, List.of());
		Collection<Summary> totals = Compare
			.totals(List.of(Summary.read(this.first), Summary.read(other), Summary.read(this.second)));
		assertThat(totals).hasSize(2);
		assertThat(Compare.table(totals)).contains("| runs, seeds | 2 runs, 1 2 | mariadb-3, 3 |", "| cycles | 4 | 2 |",
				"| faults | 2 | 1 |", "| I11 leak | 1 of 1 judged, 0.0 % excused | 0 |",
				"-20, -20, -20 ms (2) | -20, -20, -20 ms (1) |");
	}

	@Test
	void runWithoutDataIsNotClean() throws Exception {
		Verdict verdict = Report.write(this.first);
		assertThat(verdict.unproven())
			.contains("there is no machine.txt", "the timeline does not say that all clients are stopped",
					"the store was not looked at when the clients were gone", "client-1 did not say what it left")
			.doesNotContain("there is no checks.txt", "there is no resource.log");
		Files.delete(this.first.resolve("checks.txt"));
		Files.delete(this.first.resolve("resource.log"));
		Files.delete(this.first.resolve("plan.txt"));
		assertThat(Report.write(this.first).unproven()).contains("there is no checks.txt", "there is no resource.log",
				"there is no plan.txt");
		assertThat(verdict.exitCode()).isNotZero();
	}

	@Test
	void worstOfSeveralRunsIsTold() {
		assertThat(Rejudge.worst(List.of(0, 0))).isZero();
		assertThat(Rejudge.worst(List.of(0, 2, 0))).isEqualTo(2);
		assertThat(Rejudge.worst(List.of(2, 1, 0))).isEqualTo(1);
	}

	@Test
	void runsOfDifferentKindsAreNotAddedUp() throws Exception {
		Summary other = Summary.read(run("mariadb-3", "MARIADB", 3, List.of()));
		Summary one = Summary.read(this.first);
		assertThatIllegalArgumentException().isThrownBy(() -> one.plus(other)).withMessageContaining("different kinds");
	}

	@Test
	void reportThatSaysTooLittleIsRefused() throws Exception {
		Files.writeString(this.first.resolve("report.json"), "{\"run\":\"redis-1\"}");
		assertThatIllegalArgumentException().isThrownBy(() -> Summary.read(this.first))
			.withMessageContaining("Rejudge");
	}

	/**
	 * A holder is killed, and its lock is granted to another client 980 ms later.
	 */
	private Path run(String name, String store, int seed, List<String> checks) throws Exception {
		Path run = Files.createDirectory(this.directory.resolve(name));
		Files.writeString(run.resolve("plan.txt"),
				"CampaignOptions[store=%s, contender=dlock, tier=S, duration=PT1M, seed=%d, lease=PT1S]%n"
					.formatted(store, seed));
		Files.write(run.resolve("timeline.txt"), List.of(200 * MS + " START F3 client-0 kill #0",
				200 * MS + " KILL F3 client-0 kill #0", 900 * MS + " END F3 client-0 kill #0"));
		Files.write(run.resolve("checks.txt"), checks);
		history(run, 0, false, 100, 110, 1);
		history(run, 1, true, 150, 1180, 2048);
		new HistoryWriter(run.resolve("resource.log"), HistoryHeader.ofResource()).close();
		Report.write(run);
		return run;
	}

	private static void history(Path run, int client, boolean ended, long invoked, long granted, long token) {
		HistoryHeader header = new HistoryHeader(client, 0, 1, 1000 * MS, 100 * MS, 100 * MS, true, true);
		Origin origin = new Origin(client, 0, 1, 0);
		try (HistoryWriter history = new HistoryWriter(run.resolve("client-" + client + "-0.history"), header)) {
			history
				.append(HistoryRecord.of(invoked * MS, origin, Event.INVOKE).withValue(2000 * MS).withOther(1000 * MS));
			history.append(HistoryRecord.of(granted * MS, origin, Event.GRANTED).withToken(token));
			if (ended) {
				history.append(HistoryRecord.of(granted * MS + 1, origin, Event.RELEASE_SENT));
				history.append(HistoryRecord.of(granted * MS + 2, origin, Event.RELEASED));
				history.append(HistoryRecord.of(granted * MS + 3, new Origin(client, -1, 0, -1), Event.END));
			}
		}
	}

}
