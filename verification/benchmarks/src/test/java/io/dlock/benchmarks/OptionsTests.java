package io.dlock.benchmarks;

import org.junit.jupiter.api.Test;

import io.dlock.benchmarks.contender.Backend;
import io.dlock.benchmarks.contender.ContenderType;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class OptionsTests {

	@Test
	void everythingIsMeasuredUnlessTold() {
		Options options = Options.parse();
		assertThat(options.quick()).isFalse();
		assertThat(options.includes("hand-off")).isTrue();
		assertThat(options.contenders()).contains(ContenderType.values());
		assertThat(options.stores()).contains(Backend.values());
	}

	@Test
	void listsAreSeparatedByCommas() {
		Options options = Options.parse("--quick", "--only=held,keys", "--contenders=dlock,raw", "--store=redis");
		assertThat(options.pick("full", "quick")).isEqualTo("quick");
		assertThat(options.includes("keys")).isTrue();
		assertThat(options.includes("aspect")).isFalse();
		assertThat(options.contenders()).containsOnly(ContenderType.DLOCK, ContenderType.RAW);
		assertThat(options.stores()).containsOnly(Backend.REDIS);
	}

	@Test
	void typosAreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> Options.parse("--fast")).withMessageContaining("--quick");
		assertThatIllegalArgumentException().isThrownBy(() -> Options.parse("--contenders=redison"))
			.withMessageContaining("redisson-fair");
	}

}
