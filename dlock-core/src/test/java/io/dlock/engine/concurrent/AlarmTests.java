package io.dlock.engine.concurrent;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class AlarmTests {

	private static final long SECOND = Duration.ofSeconds(1).toNanos();

	private final TurnedClock clock = new TurnedClock();

	private final List<Runnable> scheduled = new ArrayList<>();

	private int rings;

	private Alarm alarm(Alarm.Scheduler scheduler) {
		return new Alarm(scheduler, this.clock, () -> this.rings++);
	}

	@Test
	void alarmIsScheduledOnceForTheEarliest() {
		Alarm alarm = alarm((task, delay) -> {
			this.scheduled.add(task);
			return null;
		});
		alarm.wakeIn(2 * SECOND);
		alarm.wakeIn(3 * SECOND);
		assertThat(this.scheduled).hasSize(1);
		alarm.wakeIn(SECOND);
		assertThat(this.scheduled).hasSize(2);
	}

	/**
	 * Found by the torture bed: the thread that set the alarm was held up for a
	 * millisecond, and no lease of the process was ever renewed again.
	 */
	@Test
	void r27AlarmRingingBeforeItIsSetCanBeSetAgain() {
		Alarm alarm = alarm((task, delay) -> {
			task.run();
			return null;
		});
		alarm.wakeIn(SECOND);
		this.clock.pass(Duration.ofSeconds(2));
		alarm.wakeIn(SECOND);
		assertThat(this.rings).isEqualTo(2);
	}

	@Test
	void formerAlarmIsCancelled() {
		List<CompletableFuture<Void>> alarms = new ArrayList<>();
		Alarm alarm = alarm((task, delay) -> {
			alarms.add(new CompletableFuture<>());
			return alarms.get(alarms.size() - 1);
		});
		alarm.wakeIn(2 * SECOND);
		alarm.wakeIn(SECOND);
		assertThat(alarms).extracting(CompletableFuture::isCancelled).containsExactly(true, false);
	}

	@Test
	void formerAlarmRingsIfNoOtherCanBeScheduled() {
		CompletableFuture<Void> former = new CompletableFuture<>();
		Alarm alarm = alarm((task, delay) -> {
			this.scheduled.add(task);
			if (this.scheduled.size() == 2) {
				throw new IllegalStateException("no memory");
			}
			return former;
		});
		alarm.wakeIn(2 * SECOND);
		assertThatIllegalStateException().isThrownBy(() -> alarm.wakeIn(SECOND));
		assertThat(former).isNotCancelled();
	}

	@Test
	void unscheduledAlarmCanBeSetAgain() {
		Alarm alarm = alarm((task, delay) -> {
			this.scheduled.add(task);
			if (this.scheduled.size() == 1) {
				throw new IllegalStateException("no thread");
			}
			return null;
		});
		assertThatIllegalStateException().isThrownBy(() -> alarm.wakeIn(SECOND));
		alarm.wakeIn(2 * SECOND);
		assertThat(this.scheduled).hasSize(2);
	}

}
