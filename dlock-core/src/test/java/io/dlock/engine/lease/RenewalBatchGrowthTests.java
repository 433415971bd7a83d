package io.dlock.engine.lease;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.dlock.store.RenewResult;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RenewalBatchSize}.
 */
class RenewalBatchGrowthTests {

	private final RenewalBatchSize size = new RenewalBatchSize();

	/**
	 * Single leases that are due between two large batches say nothing of large ones.
	 */
	@Test
	void r5OnlyAnAnsweredCallAsLargeAsTheLimitRaisesIt() {
		answered(1000, RenewResult.UNKNOWN);
		assertThat(this.size.limit()).isEqualTo(100);
		for (int i = 0; i < 20; i++) {
			answered(1, RenewResult.RENEWED);
		}
		assertThat(this.size.limit()).isEqualTo(100);
		answered(100, RenewResult.REFUSED);
		assertThat(this.size.limit()).isEqualTo(200);
	}

	/**
	 * The leases that end first would fail again in each call that is too large.
	 */
	@Test
	void r5CallsGrowSlowlyFromHalfOfThoseThatWereTooLarge() {
		answered(1000, RenewResult.UNKNOWN);
		answered(100, RenewResult.RENEWED);
		answered(200, RenewResult.RENEWED);
		assertThat(this.size.limit()).isEqualTo(400);
		answered(400, RenewResult.UNKNOWN);
		assertThat(fullCalls(7)).containsExactly(40, 80, 160, 200, 221, 244, 269);
		answered(1, RenewResult.UNKNOWN);
		assertThat(fullCalls(5)).containsExactly(29, 58, 116, 232, 296);
		assertThat(fullCalls(20)).endsWith(1000);
	}

	private List<Integer> fullCalls(int many) {
		List<Integer> sizes = new ArrayList<>();
		for (int i = 0; i < many; i++) {
			sizes.add(this.size.limit());
			answered(this.size.limit(), RenewResult.RENEWED);
		}
		return sizes;
	}

	private void answered(int leases, RenewResult result) {
		this.size.answered(Collections.nCopies(leases, result));
	}

}
