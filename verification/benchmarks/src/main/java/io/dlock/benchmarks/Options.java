package io.dlock.benchmarks;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import io.dlock.benchmarks.contender.Backend;
import io.dlock.benchmarks.contender.ContenderType;

/**
 * The measurements to take.
 *
 * @param quick less of everything, for a first impression
 * @param only the scenarios, all if empty
 * @param contenders who takes part
 * @param stores on which servers
 */
public record Options(boolean quick, List<String> only, Set<ContenderType> contenders, Set<Backend> stores) {

	static final String USAGE = "run [--quick] [--only=<scenario>,…] [--contenders=<name>,…] [--store=redis|postgres]";

	/**
	 * Read the command line.
	 * @param arguments the arguments
	 * @return the options
	 */
	public static Options parse(String... arguments) {
		Options options = new Options(false, List.of(), EnumSet.allOf(ContenderType.class),
				EnumSet.allOf(Backend.class));
		for (String argument : arguments) {
			int equals = argument.indexOf('=');
			String name = (equals == -1) ? argument : argument.substring(0, equals);
			List<String> values = (equals == -1) ? List.of()
					: Arrays.asList(argument.substring(equals + 1).split(",", -1));
			options = options.with(name, values);
		}
		return options;
	}

	private Options with(String name, List<String> values) {
		return switch (name) {
			case "--quick" -> new Options(true, this.only, this.contenders, this.stores);
			case "--only" -> new Options(this.quick, values, this.contenders, this.stores);
			case "--contenders" -> new Options(this.quick, this.only,
					values.stream().map(ContenderType::of).collect(Collectors.toSet()), this.stores);
			case "--store" -> new Options(this.quick, this.only, this.contenders,
					values.stream().map(Backend::of).collect(Collectors.toSet()));
			default -> throw new IllegalArgumentException("Unknown option " + name + ". Usage: " + USAGE);
		};
	}

	/**
	 * Choose by mode.
	 * @param full for all of it
	 * @param quick for a first impression
	 * @param <T> the type of the value
	 * @return one of the two
	 */
	public <T> T pick(T full, T quick) {
		return this.quick ? quick : full;
	}

	boolean includes(String scenario) {
		return this.only.isEmpty() || this.only.contains(scenario);
	}

}
