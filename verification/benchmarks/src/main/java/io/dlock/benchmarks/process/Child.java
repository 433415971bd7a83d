package io.dlock.benchmarks.process;

import java.util.Arrays;
import java.util.List;

import io.dlock.benchmarks.startup.StartUpTimer;

/**
 * The main class of a child: runs one task and prints its report.
 */
public final class Child {

	private Child() {
	}

	public static void main(String[] args) {
		long started = System.nanoTime();
		Parent parent = new Parent();
		try {
			List<String> arguments = Arrays.asList(args).subList(1, args.length);
			ChildTask task = switch (Task.valueOf(args[0])) {
				case CONTEND -> new ContendTask();
				case PING_PONG -> new PingPongTask();
				case HOLD -> new HoldTask();
				case USE_KEYS -> new UseKeysTask();
				case START_UP -> (words, to) -> ChildReport.of(StartUpTimer.run(words.toArray(String[]::new), started));
			};
			parent.say("result " + task.run(arguments, parent).toJson());
		}
		catch (Throwable ex) {
			parent.say("failed " + ex);
			ex.printStackTrace(System.err);
		}
		// no goodbye to the server: closing all the clients takes longer than the rest
		Runtime.getRuntime().halt(0);
	}

	/**
	 * The tasks of a child.
	 */
	public enum Task {

		CONTEND, PING_PONG, HOLD, USE_KEYS, START_UP

	}

}
