package com.example.locks;

import java.nio.file.Path;

import org.junit.jupiter.api.Test;

import io.dlock.test.Repository;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The example of {@code docs/stores.md} is the code that runs.
 */
class StoresPageTests {

	@Test
	void exampleIsTheTestThatRuns() {
		String test = Repository
			.read(Path.of("dlock-store-test/src/test/java/com/example/locks/MinimalLockStoreTests.java"));
		assertThat(Repository.read(Path.of("docs/stores.md"))).contains(test.substring(test.indexOf("class ")));
	}

}
