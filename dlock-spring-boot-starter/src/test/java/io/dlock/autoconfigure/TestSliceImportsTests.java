package io.dlock.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.springframework.boot.jdbc.test.autoconfigure.JdbcTest;
import org.springframework.boot.test.autoconfigure.json.JsonTest;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;

import io.dlock.autoconfigure.jdbc.DlockJdbcAutoConfiguration;
import io.dlock.autoconfigure.redis.DlockRedisAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The files that bring dlock into the slices of Spring Boot: they are found by the names
 * of its annotations.
 */
class TestSliceImportsTests {

	private static final Path FILES = Path.of("src/main/resources/META-INF/spring");

	private static final String ALL = "org.springframework.boot.autoconfigure.AutoConfiguration.imports";

	private static final String MANAGEMENT = "org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration.imports";

	@Test
	void everySliceImportsTheSame() throws IOException {
		try (Stream<Path> files = Files.list(FILES)) {
			List<Path> slices = files.filter((file) -> !file.endsWith(ALL) && !file.endsWith(MANAGEMENT)).toList();
			assertThat(slices).hasSize(20)
				.extracting((file) -> file.getFileName().toString())
				.contains(WebMvcTest.class.getName() + ".imports", JdbcTest.class.getName() + ".imports",
						JsonTest.class.getName() + ".imports")
				.allMatch((name) -> name.endsWith("Test.imports"));
			for (Path slice : slices) {
				assertThat(Files.readAllLines(slice)).as(slice.toString())
					.containsExactly(DlockTestSliceAutoConfiguration.class.getName(),
							DlockAutoConfiguration.class.getName(), DlockJdbcAutoConfiguration.class.getName(),
							DlockRedisAutoConfiguration.class.getName());
			}
		}
	}

	@Test
	void sliceConfigurationIsForSlicesOnly() throws IOException {
		assertThat(Files.readAllLines(FILES.resolve(ALL)))
			.doesNotContain(DlockTestSliceAutoConfiguration.class.getName());
	}

}
