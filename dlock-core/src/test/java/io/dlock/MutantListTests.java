package io.dlock;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.dlock.test.Repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * The lists of {@code verification/mutants} follow the code.
 */
class MutantListTests {

	/** Prints the mutants that change nothing. */
	private static final String SCRIPT = """
			use strict; use warnings; no warnings 'void';
			my ($list, $main) = @ARGV;
			open(my $lines, '<', $list) or die "$list: $!";
			my @lines = grep { !/^#|^$/ } map { chomp; $_ } <$lines>;
			while (my ($name, $file, $substitution, $tests) = splice(@lines, 0, 4)) {
				my $folder = $file =~ /java$/ ? 'java' : 'resources';
				open(my $source, '<', "$main/$folder/io/dlock/$file") or print "$name: there is no $file\\n" and next;
				local $_ = do { local $/; <$source> };
				for my $part (split m{; (?=s/)}, $substitution) {
					my $text = $_;
					eval $part;
					print "$name: $@\\n" if $@;
					print "$name: $part changes nothing in $file\\n" if $_ eq $text;
				}
			}
			""";

	@ParameterizedTest
	@CsvSource({ "mutants.txt, dlock-core", "starter-mutants.txt, dlock-spring-boot-starter" })
	void eachMutantChangesTheCode(String list, String module) throws Exception {
		assumeThat(isPerlThere()).as("perl is there").isTrue();
		Process perl = new ProcessBuilder("perl", "-e", SCRIPT, "../verification/mutants/" + list,
				"../" + module + "/src/main")
			.redirectErrorStream(true)
			.start();
		String problems = new String(perl.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		assertThat(perl.waitFor()).as(problems).isZero();
		assertThat(problems).isEmpty();
	}

	private static boolean isPerlThere() throws InterruptedException {
		try {
			return new ProcessBuilder("perl", "-v").redirectOutput(ProcessBuilder.Redirect.DISCARD)
				.start()
				.waitFor() == 0;
		}
		catch (IOException ex) {
			return false;
		}
	}

	@ParameterizedTest
	@CsvSource({ "mutants.txt", "starter-mutants.txt" })
	void eachMutantNamesTestsThatExist(String list) {
		Set<String> classes = Repository.files(".java")
			.stream()
			.map((file) -> file.getFileName().toString().replace(".java", ""))
			.collect(Collectors.toSet());
		List<String> lines = Repository.read(Path.of("verification/mutants/" + list))
			.lines()
			.filter((line) -> !line.isEmpty() && !line.startsWith("#"))
			.toList();
		assertThat(lines.size() % 4).as("lines of each mutant").isZero();
		for (int i = 3; i < lines.size(); i += 4) {
			for (String test : lines.get(i).split("[, ]+")) {
				assertThat(classes).as(lines.get(i - 3)).contains(test.replaceFirst("#.*", ""));
			}
		}
	}

}
