package io.dlock.torture.known;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

import io.dlock.torture.known.KnownBug.Evidence;

/**
 * Tries the known bugs that are named, or all. Ends with 1 if we have one of them.
 */
public final class KnownBugs {

	private static final Map<String, KnownBug> BUGS = new TreeMap<>(
			Map.ofEntries(Map.entry("B08", new StaleToken()), Map.entry("B10", new RegistryClock()),
					Map.entry("B11", new OwnerIsTheHost()), Map.entry("B12", new PlainDelete()),
					Map.entry("B14", new KeepAliveEnds()), Map.entry("B18", new SharedStripe()),
					Map.entry("B20", new LocalLockStays()), Map.entry("B22", new WaitsForAMessage()),
					Map.entry("B24", new CountersStay()), Map.entry("B26", new AmbientTransaction()),
					Map.entry("B27", new ProviderClock()), Map.entry("B28", new TimeBeforeTheWait())));

	private KnownBugs() {
	}

	public static void main(String[] args) throws Exception {
		List<String> names = (args.length == 0) ? List.copyOf(BUGS.keySet()) : names(args);
		List<String> ours = new ArrayList<>();
		for (String name : names) {
			KnownBug bug = BUGS.get(name);
			if (bug == null) {
				throw new IllegalArgumentException("No bug " + name + ", there are " + BUGS.keySet());
			}
			System.out.println(name + " " + bug.title());
			try (Scene scene = new Scene()) {
				System.out.println("  " + version(bug.peer()) + ": " + bug.onPeer(scene));
			}
			try (Scene scene = new Scene()) {
				Evidence evidence = bug.onOurs(scene);
				System.out.println("  dlock: " + evidence);
				if (evidence.reproduced()) {
					ours.add(name);
				}
			}
		}
		System.exit(ours.isEmpty() ? 0 : 1);
	}

	private static List<String> names(String... args) {
		List<String> names = new ArrayList<>();
		for (String arg : args) {
			names.add("B%02d".formatted(Integer.parseInt(arg.toUpperCase(Locale.ROOT).replace("B", ""))));
		}
		return names;
	}

	/**
	 * The name of the jar.
	 */
	private static String version(Class<?> type) {
		Path jar = Path.of(type.getProtectionDomain().getCodeSource().getLocation().getPath()).getFileName();
		return String.valueOf(jar).replace(".jar", "");
	}

}
