package io.dlock.torture.judge;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.dlock.torture.history.Event;
import io.dlock.torture.history.HistoryHeader;
import io.dlock.torture.history.HistoryRecord;
import io.dlock.torture.history.HistoryRecord.Origin;
import io.dlock.torture.history.HistoryWriter;
import io.dlock.torture.judge.Intervals.Interval;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RunReader}.
 */
class RunReaderTests {

	private static final long SECOND = 1_000_000_000;

	@TempDir
	private Path directory;

	@Test
	void readsWhenTheMachineWasSlowBesidesALineThatIsCutOff() throws IOException {
		Path file = this.directory.resolve("machine.txt");
		Files.writeString(file, "1000 1300\n1200 1400\n2000 2100\n3000 31");
		assertThat(RunReader.machine(file).all()).containsExactly(new Interval(1000, 1400), new Interval(2000, 2100));
		assertThat(RunReader.machine(this.directory.resolve("none")).all()).isEmpty();
	}

	@Test
	void troublesAndLeaksOfAllClientsAreRead() throws IOException {
		for (int client = 0; client < 2; client++) {
			history(client, call(client, 0, 1, SECOND, 2 * SECOND));
			Files.write(this.directory.resolve("client-%d.out".formatted(client)),
					List.of("READY", "TROUBLE client-%d-0 1 2 3 REFUSED a lock".formatted(client),
							"BASELINE {\"ready\":{},\"idle\":{},\"closed\":{\"threads\":[\"dlock-timer-%d\"]}}"
								.formatted(client)));
		}
		Run run = read();
		assertThat(run.troubles()).extracting(Trouble::client).containsExactly("client-0-0", "client-1-0");
		assertThat(run.checks()).filteredOn((check) -> !check.holds())
			.extracting(Run.Check::text)
			.containsExactly("client-0 has thread dlock-timer-0 when closed",
					"client-1 has thread dlock-timer-1 when closed");
	}

	@ParameterizedTest
	@CsvSource({ "9, true", "10, false" })
	void oneFaultOfTenMayBeImpossible(int faults, boolean missing) throws IOException {
		history(0, call(0, 0, 1, SECOND, 2 * SECOND));
		Files.write(this.directory.resolve("timeline.txt"),
				IntStream.range(0, faults).mapToObj((i) -> i + " START F12 link-0 black-hole #" + i).toList());
		Files.write(this.directory.resolve("checks.txt"), List.of("NOTE - fault not possible: F19"));
		String reason = "1 faults were not possible, of " + faults;
		assertThat(read().missing().contains(reason)).isEqualTo(missing);
	}

	/**
	 * Three command timeouts and a poll.
	 */
	@Test
	void faultOfTheStoreIsAnExcuseForAWhileAfterIt() throws IOException {
		history(0, call(0, 0, 1, SECOND, 2 * SECOND));
		Files.write(this.directory.resolve("timeline.txt"),
				List.of("1000 START F5 store down #1", "2000 END F5 store down #1"));
		Client client = read().clients().get(0);
		assertThat(client.storeFaults().all()).containsExactly(new Interval(1000, 2000 + 3 * 100 + 50));
		assertThat(client.faults().all()).containsExactly(new Interval(1000, 2000 + 3 * 100 + 50));
	}

	@ParameterizedTest
	@CsvSource({ "dlock, 1024", "redisson, 1" })
	void leaseHasManyTokensIfItIsOurs(String contender, long tokens) throws IOException {
		history(0, call(0, 0, 1, SECOND, 2 * SECOND));
		Files.writeString(this.directory.resolve("plan.txt"), "CampaignOptions[contender=" + contender + "]");
		assertThat(read().limits().tokensPerLease()).isEqualTo(tokens);
	}

	@Test
	void clientThatDidNotSayThatItEndsWasKilled() throws IOException {
		Stream<HistoryRecord> end = Stream.of(HistoryRecord.of(3 * SECOND, new Origin(0, 0, 0, 0), Event.END));
		history(0, Stream.concat(call(0, 0, 1, SECOND, 2 * SECOND), end));
		history(1, call(1, 0, 1, SECOND, 2 * SECOND));
		assertThat(read().clients()).extracting(Client::killed).containsExactly(0L, 2 * SECOND);
	}

	/**
	 * An interrupt may reach the call after the one that it was sent to, but not a later
	 * one.
	 */
	@ParameterizedTest
	@CsvSource({ "3, false", "5, true" })
	void interruptIsNotForTheCallAfterTheNext(int sent, boolean told) throws IOException {
		Stream<HistoryRecord> interrupt = Stream
			.of(HistoryRecord.of(sent * SECOND, new Origin(0, 0, 0, 0), Event.INTERRUPT));
		Stream<HistoryRecord> calls = Stream.concat(call(0, 0, 1, 5 * SECOND, 6 * SECOND),
				Stream.of(HistoryRecord.of(7 * SECOND, new Origin(0, 0, 2, 0), Event.INVOKE),
						HistoryRecord.of(8 * SECOND, new Origin(0, 0, 2, 0), Event.INTERRUPTED)));
		history(0, Stream.concat(interrupt, calls));
		assertThat(read().attempts().get(1).isInterruptSent()).isEqualTo(told);
	}

	private static Stream<HistoryRecord> call(int client, int thread, long number, long invoked, long returned) {
		Origin origin = new Origin(client, thread, number, 0);
		return Stream.of(HistoryRecord.of(invoked, origin, Event.INVOKE),
				HistoryRecord.of(returned, origin, Event.REFUSED));
	}

	private void history(int client, Stream<HistoryRecord> records) {
		try (HistoryWriter writer = new HistoryWriter(this.directory.resolve("client-%d-0.history".formatted(client)),
				new HistoryHeader(client, 0, 1, 1000, 100, 50, true, true))) {
			records.forEach(writer::append);
		}
	}

	private Run read() {
		return new RunReader(this.directory, 0).read();
	}

}
