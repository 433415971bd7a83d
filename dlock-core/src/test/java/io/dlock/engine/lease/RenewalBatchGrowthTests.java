package io.dlock.engine.lease;

import java.util.Collections;

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

	private void answered(int leases, RenewResult result) {
		this.size.answered(Collections.nCopies(leases, result));
	}

}
