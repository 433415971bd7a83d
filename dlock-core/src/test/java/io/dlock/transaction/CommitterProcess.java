package io.dlock.transaction;

import java.io.IOException;
import java.time.Duration;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

import io.dlock.test.JavaProcess;
import io.dlock.test.TestDatabase;

/**
 * Another instance, which adds one to a counter and waits on the way to its commit until
 * it is told to go on.
 */
final class CommitterProcess implements AutoCloseable {

	/**
	 * The place at which it waits.
	 */
	enum Place {

		/** After the check of the validity, before the COMMIT. */
		VALIDITY_CHECKED,

		/** After the check of the validity, before the row is locked. */
		VALIDITY_CHECKED_ROW_NOT_LOCKED,

		/** After the row was locked, before the COMMIT. */
		ROW_LOCKED

	}

	private final JavaProcess process;

	private CommitterProcess(JavaProcess process) {
		this.process = process;
	}

	static CommitterProcess start(TestDatabase database, Duration lease, String id, Place place) throws IOException {
		return new CommitterProcess(JavaProcess.start(CommitterProcess.class, database.url(), database.username(),
				database.password(), database.platform(), Long.toString(lease.toMillis()), id, place.name()));
	}

	/**
	 * Wait for a line that begins so.
	 * @return the rest of the line
	 */
	String await(String beginning) throws InterruptedException {
		return this.process.await(beginning);
	}

	void freeze() throws IOException, InterruptedException {
		this.process.signal("STOP");
	}

	/**
	 * Wake up, and go on where it was.
	 */
	void goOn() throws IOException, InterruptedException {
		this.process.say("");
		this.process.signal("CONT");
	}

	@Override
	public void close() throws InterruptedException {
		this.process.close();
	}

	public static void main(String[] args) {
		TestDatabase database = new TestDatabase(args[0], args[1], args[2], args[3]);
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
