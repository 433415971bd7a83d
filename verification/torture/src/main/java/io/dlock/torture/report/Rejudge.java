package io.dlock.torture.report;

import java.io.IOException;
import java.nio.file.Path;

import io.dlock.torture.judge.Verdict;

/**
 * Judges runs again, from what lies in their directories. Ends with 1 if one is broken,
 * and with 2 if one proves nothing.
 */
public final class Rejudge {

	private Rejudge() {
	}

	public static void main(String[] args) throws IOException {
		int exit = 0;
		for (String arg : args) {
			Path directory = Path.of(arg);
			Verdict verdict = Report.write(directory);
			System.out.println(Report.text(directory, verdict));
			if (!verdict.isClean()) {
				exit = 1;
			}
			else if (!verdict.isValid() && exit == 0) {
				exit = 2;
			}
		}
		System.exit(exit);
	}

}
