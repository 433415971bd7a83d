package io.dlock.autoconfigure;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import org.junit.jupiter.api.Test;

import io.dlock.test.ClassCycles;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;

/**
 * The rules Spring Boot keeps for its own auto-configurations.
 */
class ArchitectureTests {

	private static final JavaClasses CLASSES = new ClassFileImporter()
		.withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
		.importPackages("io.dlock.autoconfigure");

	@Test
	void autoConfigurationsArePublicAndFinalWithoutPublicMembers() {
		classes().that()
			.areAnnotatedWith("org.springframework.boot.autoconfigure.AutoConfiguration")
			.should()
			.bePublic()
			.andShould()
			.haveModifier(com.tngtech.archunit.core.domain.JavaModifier.FINAL)
			.check(CLASSES);
		noMethods().that()
			.areDeclaredInClassesThat()
			.areAnnotatedWith("org.springframework.boot.autoconfigure.AutoConfiguration")
			.should()
			.bePublic()
			.check(CLASSES);
	}

	@Test
	void neitherPackagesNorClassesHaveCycles() {
		SlicesRuleDefinition.slices().matching("io.dlock.(**)").should().beFreeOfCycles().check(CLASSES);
		ClassCycles.none().check(CLASSES);
	}

	@Test
	void postProcessorsAreCreatedByStaticMethods() {
		methods().that()
			.areAnnotatedWith("org.springframework.context.annotation.Bean")
			.and()
			.haveRawReturnType(io.dlock.aop.DistributedLockedBeanPostProcessor.class)
			.should()
			.beStatic()
			.check(CLASSES);
	}

	@Test
	void conditionsOnClassesStandOnClasses() {
		noMethods().should()
			.beAnnotatedWith("org.springframework.boot.autoconfigure.condition.ConditionalOnClass")
			.check(CLASSES);
	}

	@Test
	void packageIsNullMarked() {
		classes().that()
			.haveSimpleName("package-info")
			.should()
			.beAnnotatedWith("org.jspecify.annotations.NullMarked")
			.check(CLASSES);
	}

}
