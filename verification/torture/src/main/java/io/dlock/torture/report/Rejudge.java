package io.dlock.torture.report;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.dlock.torture.judge.Verdict;

/**
 * Judges runs again, from the files in their directories. Ends with 1 if one is broken or
 * cannot be read, else with 2 if one proves nothing, and with 0 if all are clean.
 */
public final class Rejudge {

	private Rejudge() {
	}

	public static void main(String[] args) throws IOException {
		if (args.length == 0) {
			System.err.println("Rejudge <directory of a run>...");
			System.exit(2);
		}
		List<Integer> codes = new ArrayList<>();
		for (String arg : args) {
			codes.add(judge(Path.of(arg)));
		}
		System.exit(worst(codes));
	}

	private static int judge(Path directory) throws IOException {
		Verdict verdict = Report.write(directory);
		System.out.println(Report.text(directory, verdict));
		return verdict.exitCode();
	}

	static int worst(List<Integer> codes) {
		return codes.contains(1) ? 1 : codes.stream().mapToInt(Integer::intValue).max().orElse(2);
	}

}
