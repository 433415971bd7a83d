package io.dlock.torture;

import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;

import org.junit.jupiter.api.Timeout;

import io.dlock.torture.judge.Evidence;
import io.dlock.torture.judge.Judge;
import io.dlock.torture.judge.Verdict;
import io.dlock.torture.report.Report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * A short campaign: every kind of fault that has to be survived, once. Each store has a
 * class, so that they run beside each other.
 */
@Timeout(170)
abstract class AbstractSmokeTests {

	/**
	 * The time that tests of other modules, or other builds, may cost that run beside it:
	 * a smoke test is about right and wrong, a campaign about time as well.
	 */
	private static final Duration BUSY_MACHINE = Duration.ofMillis(500);

	static Set<String> survive(String... args) throws Exception {
		Campaign.Run run = Campaign.run(CampaignOptions.parse(args));
		Verdict verdict = Judge.judge(run.directory(), BUSY_MACHINE);
		String report = Report.text(run.directory(), verdict);
		System.out.println(report);
		assertThat(run.impossible()).isEmpty();
		assertThat(verdict.isClean()).as(() -> report + String.join("\n", Evidence.of(run.directory(), verdict)))
			.isTrue();
		assumeThat(verdict.unproven()).as("a machine that is good for something")
			.noneMatch((reason) -> reason.startsWith("the machine was slow"));
		assertThat(verdict.vacuous()).as(report).isEmpty();
		Set<String> faults = new TreeSet<>();
		run.plan().forEach((fault) -> faults.add(fault.type().id()));
		return faults;
	}

}
