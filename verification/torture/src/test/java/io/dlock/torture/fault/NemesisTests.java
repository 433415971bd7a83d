package io.dlock.torture.fault;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import io.dlock.torture.server.StoreStub;
import io.dlock.torture.server.StoreType;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Nemesis} and {@link Timeline}.
 */
@Timeout(60)
class NemesisTests {

	private final ConcurrentLinkedQueue<String> signals = new ConcurrentLinkedQueue<>();

	private String answer = "";

	@TempDir
	private Path directory;

	@Test
	void inflictsPlanOnRightTargetsAndWritesItDown() throws Exception {
		List<FaultType> types = ClientFaults.all(Duration.ofMillis(100));
		List<PlannedFault> plan = List.of(new PlannedFault(0, types.get(0), 1, 0, 50, 0),
				new PlannedFault(1, types.get(1), 0, 10, 20, 0));
		Path file = this.directory.resolve("timeline.txt");
		try (Timeline timeline = new Timeline(file)) {
			new Nemesis(bed(), timeline).run(plan);
			timeline.phase("HEAL", "all  faults\nare over");
		}
		assertThat(this.signals).containsExactlyInAnyOrder("pause 1", "kill 0", "respawn 0", "resume 1");
		List<String> lines = Files.readAllLines(file);
		assertThat(lines).allMatch((line) -> line.matches("\\d+ [A-Z]+ \\S+ \\S+ .*"))
			.hasSize(6)
			.anyMatch((line) -> line.contains(" START F1 client-1 pause #0 tier=S duration=50 amount=0 pid=101"))
			.anyMatch((line) -> line.contains(" END F1 client-1 pause #0"))
			.anyMatch((line) -> line.contains(" START F3 client-0 kill #1"))
			.anyMatch((line) -> line.contains(" KILL F3 client-0 kill #1"));
		assertThat(lines.get(5)).endsWith(" HEAL - all all faults are over");
	}

	@Test
	void letsClientsInflictFaultsOnThemselves() throws Exception {
		this.answer = "1234 keys=1234 granted=1230";
		Path file = this.directory.resolve("timeline.txt");
		try (Timeline timeline = new Timeline(file)) {
			Nemesis nemesis = new Nemesis(bed(), timeline);
			nemesis.run(List.of(new PlannedFault(7, inside("F30"), 1, 0, 50, 5000)));
			assertThat(nemesis.failures()).isEmpty();
			assertThat(nemesis.keys()).isEqualTo(1234);
		}
		assertThat(this.signals).containsExactly("AFFLICT 7 key-flood 50 5000 -> AFFLICTED 7 1");
		assertThat(Files.readAllLines(file))
			.anyMatch((line) -> line.endsWith(" END F30 client-1 key-flood #7 keys=1234 granted=1230"));
	}

	@Test
	void faultThatClientCannotInflictOnItselfIsReported() throws Exception {
		this.answer = "FAILED this contender has no application-exhausted";
		try (Timeline timeline = new Timeline(this.directory.resolve("timeline.txt"))) {
			Nemesis nemesis = new Nemesis(bed(), timeline);
			nemesis.run(List.of(new PlannedFault(0, inside("F27"), 0, 0, 50, 0)));
			assertThat(nemesis.failures()).singleElement().asString().contains("F27").contains("has no");
			assertThat(nemesis.keys()).isZero();
		}
	}

	private static FaultType inside(String id) {
		return InsideFaults.all(Duration.ofMillis(100))
			.stream()
			.filter((type) -> type.id().equals(id))
			.findAny()
			.orElseThrow();
	}

	@Test
	void faultThatIsNotPossibleIsTold() throws Exception {
		FaultType impossible = FaultType.safe("F99", "impossible", Scope.STORE, (fault) -> {
			throw new IllegalStateException("No");
		});
		try (Timeline timeline = new Timeline(this.directory.resolve("timeline.txt"))) {
			Nemesis nemesis = new Nemesis(bed(), timeline);
			nemesis.run(List.of(new PlannedFault(0, impossible, 0, 0, 50, 0)));
			assertThat(nemesis.failures()).singleElement().asString().contains("F99").contains("No");
		}
	}

	private Bed bed() {
		return new Bed(new StoreStub(StoreType.REDIS, List.of(), Map.of()),
				List.of(new RecordingClient(0), new RecordingClient(1)), List.of(), List.of(), Optional.empty(),
				Duration.ofMillis(100), Duration.ZERO);
	}

	private final class RecordingClient implements Bed.TorturedClient {

		private final int number;

		RecordingClient(int number) {
			this.number = number;
		}

		@Override
		public long pid() {
			return 100 + this.number;
		}

		@Override
		public void pause() {
			NemesisTests.this.signals.add("pause " + this.number);
		}

		@Override
		public void resume() {
			NemesisTests.this.signals.add("resume " + this.number);
		}

		@Override
		public void kill() {
			NemesisTests.this.signals.add("kill " + this.number);
		}

		@Override
		public boolean holdsSharedLock() {
			NemesisTests.this.signals.add("holds " + this.number);
			return true;
		}

		@Override
		public void respawn() {
			NemesisTests.this.signals.add("respawn " + this.number);
		}

		@Override
		public String ask(String line, String answer) {
			NemesisTests.this.signals.add(line + " -> " + answer + this.number);
			return NemesisTests.this.answer;
		}

		@Override
		public Optional<ClockOffset> clock() {
			return Optional.empty();
		}

	}

}
