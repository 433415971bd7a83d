package io.dlock.aop;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

import io.dlock.store.StorageKey;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * From the annotation to the call: {@code aop → aop.call → aop.key, transaction,
 * observation} and {@code aop → aop.aspectj}. All of them know {@code io.dlock}.
 */
class AopArchitectureTests {

	private static final int MOST_FILES = 30;

	private static final JavaClasses CLASSES = new ClassFileImporter()
		.withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
		.importPackages("io.dlock.aop", "io.dlock.transaction", "io.dlock.observation", "io.dlock.metrics");

	@Test
	void callsKnowNothingOfAnnotationsAndProxies() {
		noClasses().that()
			.resideInAPackage("io.dlock.aop.*")
			.should()
			.dependOnClassesThat()
			.resideInAPackage("io.dlock.aop")
			.check(CLASSES);
	}

	@Test
	void keysAndWovenCallsKnowNoOtherPackageOfTheirs() {
		noClasses().that()
			.resideInAnyPackage("io.dlock.aop.key", "io.dlock.aop.aspectj")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage("io.dlock.aop.call", "io.dlock.transaction", "io.dlock.observation")
			.check(CLASSES);
	}

	/**
	 * The order of the rows at a commit is that of the stores.
	 */
	@Test
	void transactionsAndObservationsKnowOnlyTheApi() {
		noClasses().that()
			.resideInAnyPackage("io.dlock.transaction", "io.dlock.observation", "io.dlock.metrics")
			.should()
			.dependOnClassesThat(
					resideInAnyPackage("io.dlock.aop..", "io.dlock.engine..", "io.dlock.store..", "io.dlock.fencing..")
						.and(not(type(StorageKey.class))))
			.check(CLASSES);
	}

	@Test
	void packageHasFewFiles() {
		Map<String, Long> files = CLASSES.stream()
			.filter(JavaClass::isTopLevelClass)
			.collect(Collectors.groupingBy(JavaClass::getPackageName, TreeMap::new, Collectors.counting()));
		assertThat(files).isNotEmpty().allSatisfy((name, number) -> assertThat(number).isLessThanOrEqualTo(MOST_FILES));
	}

	/**
	 * A public type here is no API: it is public because another package of the library
	 * uses it.
	 */
	@Test
	void internalPackagesShowOnlyTheirEntrance() {
		assertThat(publicTypes("io.dlock.aop.key")).containsExactly("KeyValueFormatter", "LockKey", "LockKeyConverters",
				"RefusedKeyException");
		assertThat(publicTypes("io.dlock.aop.call")).containsExactly("LockedMethodExecutor", "LockedMethodInvoker",
				"LockedOperation", "LockedReturnType", "PendingResults", "ProxyAdvice", "ReturnKind",
				"StoreFailureHandler");
		assertThat(publicTypes("io.dlock.aop.aspectj")).containsExactly("DistributedLockedAspect", "WovenMethods");
		assertThat(publicTypes("io.dlock.aop")).containsExactly("DistributedLockedBeanPostProcessor",
				"InvalidLockedMethodException");
	}

	private static List<String> publicTypes(String name) {
		return CLASSES.stream()
			.filter((type) -> type.isTopLevelClass() && type.getPackageName().equals(name))
			.filter((type) -> type.getModifiers().contains(JavaModifier.PUBLIC)
					&& !type.getSimpleName().equals("package-info"))
			.map(JavaClass::getSimpleName)
			.sorted()
			.toList();
	}

}
