package io.dlock.torture;

import java.util.Set;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RedisSmokeIntegrationTests extends AbstractSmokeTests {

	@Test
	void everyKindOfFaultIsSurvived() throws Exception {
		Set<String> faults = survive("--store=redis", "--duration=0", "--seed=11");
		assertThat(faults).contains("F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11", "F12", "F13",
				"F22", "F27", "F28", "F28b", "F29", "F30", "F33", "F34");
	}

}
