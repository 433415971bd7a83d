package io.dlock.aop;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

import io.dlock.aop.TransactionalInstance.Database;

/**
 * Another instance, which adds one to a counter and waits on the way to its commit until
 * it is told to go on.
 */
final class CommitterProcess implements AutoCloseable {

	/**
	 * Where it waits.
	 */
	enum Place {

		/** After the check of the validity, before the COMMIT. */
		VALIDITY_CHECKED,

		/** After the check of the validity, before the row is locked. */
		VALIDITY_CHECKED_ROW_NOT_LOCKED,

		/** After the row was locked, before the COMMIT. */
		ROW_LOCKED

	}

	private final Process process;

	private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

	private CommitterProcess(Process process) {
		this.process = process;
		Thread reader = new Thread(this::read, "committer-output");
		reader.setDaemon(true);
		reader.start();
	}

	static CommitterProcess start(Database database, Duration lease, String id, Place place) throws IOException {
		List<String> command = List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx96m",
				"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
				CommitterProcess.class.getName(), database.url(), database.username(), database.password(),
				database.schema(), Long.toString(lease.toMillis()), id, place.name());
		return new CommitterProcess(new ProcessBuilder(command).redirectErrorStream(true).start());
	}

	private void read() {
		try (BufferedReader reader = new BufferedReader(
				new InputStreamReader(this.process.getInputStream(), StandardCharsets.UTF_8))) {
			for (String line = reader.readLine(); line != null; line = reader.readLine()) {
				this.lines.add(line);
			}
		}
		catch (IOException ex) {
			this.lines.add("closed: " + ex);
		}
	}

	/**
	 * Wait for a line that begins so.
	 * @return the rest of the line
	 */
	String await(String beginning) throws InterruptedException {
		List<String> others = new ArrayList<>();
		while (true) {
			String line = this.lines.poll(60, TimeUnit.SECONDS);
			if (line == null) {
				throw new IllegalStateException("No '" + beginning + "' but " + others);
			}
			if (line.startsWith(beginning)) {
				return line.substring(beginning.length()).trim();
			}
			others.add(line);
		}
	}

	void freeze() throws IOException, InterruptedException {
		signal("STOP");
	}

	/**
	 * Wake up, and go on where it was.
	 */
	void goOn() throws IOException, InterruptedException {
		this.process.getOutputStream().write('\n');
		this.process.getOutputStream().flush();
		signal("CONT");
	}

	private void signal(String signal) throws IOException, InterruptedException {
		new ProcessBuilder("sh", "-c", "kill -" + signal + " " + this.process.pid()).inheritIO().start().waitFor();
	}

	@Override
	public void close() throws InterruptedException {
		this.process.destroyForcibly().waitFor();
	}

	public static void main(String[] args) {
		Database database = new Database(args[0], args[1], args[2], args[3]);
		Duration lease = Duration.ofMillis(Long.parseLong(args[4]));
		String id = args[5];
		Place place = Place.valueOf(args[6]);
		try (TransactionalInstance instance = new TransactionalInstance(database, lease, (created, postProcessor) -> {
			if (place != Place.VALIDITY_CHECKED) {
				postProcessor.setCommitGuard(() -> (transaction, lock) -> {
					if (place == Place.VALIDITY_CHECKED_ROW_NOT_LOCKED) {
						waitToGoOn();
					}
					created.rowGuard().check(transaction, lock);
				});
			}
		})) {
			if (place != Place.VALIDITY_CHECKED_ROW_NOT_LOCKED) {
				instance.transactions().addListener(new TransactionExecutionListener() {

					@Override
					public void beforeCommit(TransactionExecution transaction) {
						waitToGoOn();
					}

				});
			}
			instance.counter().addInItsOwnTransaction(id);
			System.out.println("RETURNED");
		}
		catch (RuntimeException ex) {
			System.out.println("FAILED " + ex.getMessage());
		}
		System.exit(0);
	}

	private static void waitToGoOn() {
		System.out.println("WAITING");
		try {
			System.in.read();
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
