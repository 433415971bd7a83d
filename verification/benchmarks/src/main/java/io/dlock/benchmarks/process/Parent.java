package io.dlock.benchmarks.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The driver as its child sees it: lines on the standard streams. A child whose driver is
 * gone ends at once.
 */
final class Parent {

	private final PrintStream out;

	private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

	/**
	 * Take the standard streams; what libraries print goes to the error stream.
	 */
	Parent() {
		this.out = System.out;
		System.setOut(System.err);
		Thread reader = new Thread(this::read, "parent");
		reader.setDaemon(true);
		reader.start();
	}

	private void read() {
		try (BufferedReader reader = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
			for (String line = reader.readLine(); line != null; line = reader.readLine()) {
				this.lines.add(line);
			}
		}
		catch (IOException ex) {
			// as if it had ended
		}
		Runtime.getRuntime().halt(1);
	}

	void say(String line) {
		this.out.println(line);
		this.out.flush();
	}

	/**
	 * Wait for a line that begins so.
	 * @param word the first word
	 * @return the other words
	 */
	List<String> hear(String word) throws InterruptedException {
		List<String> words = List.of(this.lines.take().split(" ", -1));
		if (!words.get(0).equals(word)) {
			throw new IllegalStateException("Expected '" + word + "' but got " + words);
		}
		return words.subList(1, words.size());
	}

}
