package io.dlock.torture.client;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.dlock.torture.client.Affliction.Dose;
import io.dlock.torture.client.Affliction.Effect;

/**
 * The faults inside the client. {@code AFFLICT <number> <name> <milliseconds> <amount>}
 * begins one, after those before, and {@code AFFLICTED <number> <keys> <text>} says that
 * it is over; instead of a number of keys there is {@code FAILED} if it was not possible.
 */
final class Afflictions {

	static final String WORD = "AFFLICT ";

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final Map<String, Affliction> known = new HashMap<>();

	private final String client;

	private final AtomicBoolean stopped;

	private final ExecutorService executor = Executors.newSingleThreadExecutor((task) -> {
		Thread thread = new Thread(task, "affliction");
		thread.setDaemon(true);
		return thread;
	});

	/**
	 * Create the faults.
	 * @param options who suffers
	 * @param contender who locks
	 * @param stopped whether the client is to come to an end
	 */
	Afflictions(ClientOptions options, Contender contender, AtomicBoolean stopped) {
		this.client = options.instance();
		this.stopped = stopped;
		Troubles troubles = new Troubles(options.instance(), options.waitTime());
		this.known.put("heap-pressure", new HeapPressure());
		this.known.put("key-flood", new KeyFlood(options, contender, troubles));
		if (contender.abilities().renewing()) {
			this.known.put("many-locks", new ManyLocks(options, contender, troubles));
		}
		contender.application().ifPresent((application) -> {
			this.known.put("application-exhausted", new Exhaustion(application));
			this.known.put("credentials", new NewCredentials(application, options.store().currentPassword()));
		});
	}

	void begin(String line) {
		String[] words = line.split(" ", -1);
		long begin = System.nanoTime();
		this.executor.execute(() -> {
			String effect;
			try {
				effect = suffer(words[2],
						new Dose(this.client + "-" + words[1],
								begin + Duration.ofMillis(Long.parseLong(words[3])).toNanos(),
								Integer.parseInt(words[4]), this.stopped));
			}
			catch (RuntimeException ex) {
				effect = "FAILED " + ex;
			}
			System.out.println("AFFLICTED " + words[1] + " " + effect);
		});
	}

	private String suffer(String name, Dose dose) {
		Affliction affliction = this.known.get(name);
		if (affliction == null) {
			return "FAILED this contender has no " + name;
		}
		Effect effect = affliction.suffer(dose);
		return effect.keys() + " " + effect.text();
	}

	/**
	 * Wait until all is taken back.
	 * @throws InterruptedException if the calling thread is interrupted
	 */
	void awaitEnd() throws InterruptedException {
		this.executor.shutdown();
		if (!this.executor.awaitTermination(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
			throw new IllegalStateException("A fault inside the client does not end");
		}
	}

}
