package io.dlock.store.redis;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.Callable;

import org.junit.jupiter.api.Test;

import io.dlock.test.ReducedClassPath;

import static org.assertj.core.api.Assertions.assertThat;

class RedisKeysTests {

	private static String fence() {
		return new String(RedisKeys.of("dlock", "order").fence(), StandardCharsets.UTF_8);
	}

	public static class Process implements Callable<String> {

		@Override
		public String call() {
			return fence();
		}

	}

	/**
	 * The names are built once in a process, whose machine may have digits of its own.
	 */
	@Test
	void processesShareAFenceWhateverTheLanguageOfTheirMachines() throws Exception {
		Locale locale = Locale.getDefault();
		Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
		try {
			assertThat("%d".formatted(1)).isNotEqualTo("1");
			assertThat(ReducedClassPath.call("no library", Process.class)).isEqualTo(fence());
		}
		finally {
			Locale.setDefault(locale);
		}
		assertThat(fence()).matches("dlock:\\{b\\d{3,4}}:fence");
	}

}
