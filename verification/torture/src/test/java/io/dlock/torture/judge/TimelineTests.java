package io.dlock.torture.judge;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import io.dlock.torture.judge.Intervals.Interval;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Timeline} and {@link Intervals}.
 */
class TimelineTests {

	@Test
	void faultsLastUntilTheyEndOrAreHealed() {
		Timeline timeline = Timeline.parse(List.of("10 START F1 client-1 pause #1", "12 START F12 link-0 black-hole #2",
				"15 END F1 client-1 pause #1", "20 START F5 store down #3", "30 HEAL - all over", "40 DONE - all "));
		assertThat(timeline.pauses(1).all()).containsExactly(new Interval(10, 15));
		assertThat(timeline.pauses(0).all()).isEmpty();
		assertThat(timeline.storeFaults(0).all()).containsExactly(new Interval(12, 30));
		assertThat(timeline.storeFaults(1).all()).containsExactly(new Interval(20, 30));
		assertThat(timeline.faults(1).all()).containsExactly(new Interval(10, 15), new Interval(20, 30));
		assertThat(timeline.counts()).containsExactly(Map.entry("F1", 1), Map.entry("F5", 1), Map.entry("F12", 1));
	}

	@Test
	void loadThatAClientMakesItselfExcusesNothing() {
		Timeline timeline = Timeline
			.parse(List.of("10 START F30 client-1 key-flood #1", "15 END F30 client-1 key-flood #1",
					"20 START F28b client-1 many-locks #2", "25 END F28b client-1 many-locks #2",
					"30 START F27 client-1 application-exhausted #3", "35 END F27 client-1 application-exhausted #3",
					"40 START F29 client-1 heap-pressure #4", "45 END F29 client-1 heap-pressure #4"));
		assertThat(timeline.harmfulFaults(1).all()).containsExactly(new Interval(40, 45));
		assertThat(timeline.storeFaults(1).all()).isEmpty();
		assertThat(timeline.outages().all()).isEmpty();
		assertThat(timeline.faults(1).all()).hasSize(4);
		assertThat(timeline.counts()).containsKeys("F27", "F28b", "F29", "F30");
	}

	@Test
	void lossIsToldFromRefusalToStore() {
		assertThat(Timeline.parse(List.of("1 START F19 store out-of-memory #1 tier=S")).isLossy()).isFalse();
		assertThat(Timeline.parse(List.of("1 START F19 store evict #1 tier=L")).isLossy()).isTrue();
		assertThat(Timeline.parse(List.of("1 START F14 store flush-all #1")).isLossy()).isTrue();
		assertThat(Timeline.parse(List.of("1 START F4 node-0 kill-and-restart #1")).isLossy()).isFalse();
	}

	@Test
	void clockOfStoreIsSetBackByStepBackOrByEndOfStepForward() {
		String forward = "10 START F18 store clock-step #1 tier=L amount=500";
		assertThat(Timeline.parse(List.of(forward)).storeClockSetBack()).isEqualTo(Long.MAX_VALUE);
		assertThat(Timeline.parse(List.of(forward, "30 END F18 store clock-step #1")).storeClockSetBack())
			.isEqualTo(30);
		assertThat(Timeline
			.parse(List.of(forward, "20 START F18 store clock-step #2 tier=L amount=-500",
					"30 END F18 store clock-step #1"))
			.storeClockSetBack()).isEqualTo(20);
		assertThat(Timeline.parse(List.of("10 START F20 client-1 clock-step #1 amount=-5")).storeClockSetBack())
			.isEqualTo(Long.MAX_VALUE);
	}

	@Test
	void intervalsAreJoined() {
		Intervals intervals = Intervals.of(List.of(new Interval(10, 20), new Interval(15, 30), new Interval(50, 60)));
		assertThat(intervals.all()).containsExactly(new Interval(10, 30), new Interval(50, 60));
		assertThat(intervals.covered(0, 100)).isEqualTo(30);
		assertThat(intervals.covered(25, 55)).isEqualTo(10);
		assertThat(intervals.intersects(31, 49)).isFalse();
		assertThat(intervals.intersects(30, 31)).isTrue();
		assertThat(intervals.lastEnd(0, 10, 5)).isEqualTo(30);
	}

	@Test
	void clientThatIsToBeKilledIsWellUntilThen() {
		Timeline timeline = Timeline.parse(List.of("10 START F3 client-1 kill-holder #1",
				"20 KILL F3 client-1 kill-holder #1", "30 END F3 client-1 kill-holder #1",
				"40 START F28 host cpu-hogs #2", "50 END F28 host cpu-hogs #2"));
		assertThat(timeline.kills(1)).containsExactly(20L);
		assertThat(timeline.kills(0)).isEmpty();
		assertThat(timeline.faults(1).all()).containsExactly(new Interval(20, 30), new Interval(40, 50));
		assertThat(timeline.ownFaults(1).all()).containsExactly(new Interval(20, 30));
		assertThat(timeline.outages().all()).isEmpty();
	}

	@Test
	void killsOfTimelinesWithoutTheirTimeAreTheBeginsOfTheFaults() {
		assertThat(Timeline.parse(List.of("10 START F3 client-1 kill #1", "30 END F3 client-1 kill #1")).kills(1))
			.containsExactly(10L);
	}

	@Test
	void intervalsThatBeginInTime() {
		Intervals intervals = Intervals.of(List.of(new Interval(10, 20), new Interval(30, 40), new Interval(50, 60)));
		assertThat(intervals.beginningIn(10, 30)).containsExactly(new Interval(10, 20), new Interval(30, 40));
		assertThat(intervals.beginningIn(11, 30)).containsExactly(new Interval(30, 40));
		assertThat(intervals.beginningIn(35, 49)).isEmpty();
		assertThat(intervals.beginningIn(55, 99)).isEmpty();
	}

	@Test
	void timesThatOverlapAreJoined() {
		Intervals times = Intervals
			.of(List.of(new Interval(10, 100), new Interval(20, 30), new Interval(100, 110), new Interval(200, 210)));
		assertThat(times.all()).containsExactly(new Interval(10, 110), new Interval(200, 210));
	}

	@Test
	void timesIntersectWhereTheyTouch() {
		Intervals times = Intervals.of(List.of(new Interval(10, 20), new Interval(30, 40)));
		assertThat(times.intersects(0, 9)).isFalse();
		assertThat(times.intersects(0, 10)).isTrue();
		assertThat(times.intersects(20, 20)).isTrue();
		assertThat(times.intersects(21, 29)).isFalse();
		assertThat(times.intersects(41, 50)).isFalse();
	}

	@Test
	void timeThatOthersCoverIsLeftOut() {
		Intervals times = Intervals.of(List.of(new Interval(10, 20), new Interval(30, 40)));
		Intervals others = Intervals.of(List.of(new Interval(15, 35), new Interval(50, 60)));
		assertThat(times.covered(0, 100)).isEqualTo(20);
		assertThat(times.covered(12, 32)).isEqualTo(10);
		assertThat(times.coveredBesides(others, 0, 100)).isEqualTo(10);
		assertThat(times.coveredBesides(others, 12, 38)).isEqualTo(6);
	}

}
