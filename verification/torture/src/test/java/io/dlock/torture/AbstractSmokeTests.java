package io.dlock.torture;

import java.nio.file.Files;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Timeout;

import io.dlock.torture.judge.Evidence;
import io.dlock.torture.judge.Figures;
import io.dlock.torture.judge.Invariant;
import io.dlock.torture.judge.Judge;
import io.dlock.torture.judge.Verdict;
import io.dlock.torture.report.Report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * A short campaign: every kind of fault that has to be survived, once. Each store has a
 * class, so that they run beside each other.
 * <p>
 * The faults begin within 100 seconds, and each step of a campaign has a limit of its own
 * and a message: 150 seconds for a client to start, 180 for the last fault to end, 110
 * for a client to stop. This limit is for a step that ignores its own.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
abstract class AbstractSmokeTests {

	/**
	 * The time that tests of other modules, or other builds, may cost that run beside it:
	 * a smoke test is about right and wrong, a campaign about time as well.
	 */
	private static final Duration BUSY_MACHINE = Duration.ofMillis(500);

	/** Hold at any speed. The others have limits of time, or need a process that runs. */
	private static final Set<Invariant> SAFETY = EnumSet.of(Invariant.I1, Invariant.I2, Invariant.I3, Invariant.I4,
			Invariant.I5, Invariant.I11, Invariant.I12, Invariant.I17, Invariant.I19);

	static Set<String> survive(String... args) throws Exception {
		Campaign.Run run = Campaign.run(CampaignOptions.parse(args));
		Verdict verdict = Judge.judge(run.directory(), BUSY_MACHINE);
		String report = Report.text(run.directory(), verdict);
		Files.writeString(run.directory().resolve("report.txt"), report);
		System.out.println("Torture smoke %s is %s".formatted(run.directory().getFileName(), verdict.line()));
		assertThat(verdict.counts()).as(report)
			.allSatisfy((invariant, count) -> assertThat(SAFETY.contains(invariant) ? count : 0).isZero());
		assumeThat(isStarved(verdict.figures())).as("the machine was slow for most of the time").isFalse();
		assertThat(run.impossible()).isEmpty();
		assertThat(verdict.isClean()).as(() -> report + String.join("\n", Evidence.of(run.directory(), verdict)))
			.isTrue();
		assertThat(verdict.unproven()).as(report).allMatch(AbstractSmokeTests::isTooLittle);
		assumeThat(verdict.unproven()).as("enough that was judged").isEmpty();
		assumeThat(verdict.vacuous()).as("enough that was survived").isEmpty();
		Set<String> faults = new TreeSet<>();
		run.plan().forEach((fault) -> faults.add(fault.type().id()));
		return faults;
	}

	private static boolean isStarved(Figures figures) {
		return figures.slowSeconds() > 0.75 * figures.seconds();
	}

	/**
	 * Whether a busy machine is the reason that a run proves nothing, not missing data.
	 */
	private static boolean isTooLittle(String reason) {
		return reason.matches("I\\d+: .*|I\\d+ was not judged|.* a slow machine, .*");
	}

}
