package io.dlock.test;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import com.tngtech.archunit.library.dependencies.SliceRule;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;

/**
 * The rule that no two top-level classes depend on each other, directly or through
 * others. A failure names the cycle.
 */
public final class ClassCycles implements SliceAssignment {

	private ClassCycles() {
	}

	/**
	 * Forbid cycles.
	 * @return the rule
	 */
	public static SliceRule none() {
		return SlicesRuleDefinition.slices().assignedFrom(new ClassCycles()).should().beFreeOfCycles();
	}

	/**
	 * A builder belongs to the class that it builds.
	 */
	@Override
	public SliceIdentifier getIdentifierOf(JavaClass type) {
		JavaClass topLevel = type;
		while (topLevel.getEnclosingClass().isPresent()) {
			topLevel = topLevel.getEnclosingClass().get();
		}
		return SliceIdentifier.of(topLevel.getName().replaceFirst("Builder$", ""));
	}

	@Override
	public String getDescription() {
		return "top-level classes";
	}

}
