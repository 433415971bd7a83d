package io.dlock;

import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaConstructorCall;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.dlock.test.ClassCycles;
import io.dlock.test.Repository;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Dependencies point one way: aop → io.dlock ← engine → store ← redis, jdbc, memory; aop
 * → observation; aop → transaction ← engine; engine → engine.queue → engine.lease →
 * engine.concurrent; metrics → io.dlock; io.dlock ← console ← engine; and io.dlock ←
 * fencing → store.
 */
class ArchitectureTests {

	private static final JavaClasses CLASSES = new ClassFileImporter()
		.withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
		.importPackages("io.dlock");

	@Test
	void packagesHaveNoCycles() {
		SlicesRuleDefinition.slices().matching("io.(dlock..)").should().beFreeOfCycles().check(CLASSES);
	}

	/**
	 * Within a package the classes know each other in one direction only, with two
	 * exceptions: a lease has a holder that belongs to it, and users find the handle of
	 * their thread with {@link LockHandle#current()}.
	 */
	@Test
	void classesHaveNoCycles() {
		ClassCycles.none()
			.ignoreDependency("io.dlock.engine.lease.Hold", "io.dlock.engine.lease.Lease")
			.ignoreDependency(LockHandle.class, LockContext.class)
			.check(CLASSES);
	}

	@Test
	void apiKnowsNoOtherPackage() {
		noClasses().that()
			.resideInAPackage("io.dlock")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage("io.dlock.*..")
			.check(CLASSES);
	}

	@Test
	void consoleKnowsOnlyTheApi() {
		noClasses().that()
			.resideInAPackage("io.dlock.console..")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage("io.dlock.engine..", "io.dlock.store..", "io.dlock.aop..", "io.dlock.fencing..",
					"io.dlock.metrics..", "io.dlock.observation..")
			.check(CLASSES);
	}

	@Test
	void aopKnowsOnlyTheApi() {
		noClasses().that()
			.resideInAPackage("io.dlock.aop..")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage("io.dlock.engine..", "io.dlock.store..")
			.check(CLASSES);
	}

	@Test
	void engineKnowsNoParticularStore() {
		noClasses().that()
			.resideInAPackage("io.dlock.engine..")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage("io.dlock.store.redis..", "io.dlock.store.jdbc..", "io.dlock.store.memory..",
					"io.dlock.aop..")
			.check(CLASSES);
	}

	@Test
	void clocksAndThreadsKnowNothingOfLocks() {
		noClasses().that()
			.resideInAPackage("io.dlock.engine.concurrent")
			.should()
			.dependOnClassesThat(
					resideInAPackage("io.dlock..").and(not(resideInAPackage("io.dlock.engine.concurrent"))))
			.check(CLASSES);
	}

	/**
	 * These packages have public types for the package above them alone: they are no API.
	 * @param owner the package above
	 */
	@ParameterizedTest
	@ValueSource(strings = { "io.dlock.engine", "io.dlock.store.redis" })
	void packagesBelowAreKnownToTheirOwnerOnly(String owner) {
		noClasses().that()
			.resideOutsideOfPackage(owner + "..")
			.should()
			.dependOnClassesThat()
			.resideInAPackage(owner + ".*..")
			.check(CLASSES);
		noClasses().that()
			.resideInAPackage(owner + ".*..")
			.should()
			.dependOnClassesThat()
			.resideInAPackage(owner)
			.check(CLASSES);
	}

	/**
	 * The API is one package, because a user imports from it alone.
	 */
	@Test
	void packagesHaveAtMostThirtyFiles() {
		Map<String, Long> files = CLASSES.stream()
			.filter(JavaClass::isTopLevelClass)
			.collect(Collectors.groupingBy(JavaClass::getPackageName, Collectors.counting()));
		files.remove("io.dlock");
		assertThat(files).hasSizeGreaterThan(20).allSatisfy((name, size) -> assertThat(size).isLessThanOrEqualTo(30));
	}

	@Test
	void storesKnowNeitherTheEngineNorTheApiNorEachOther() {
		noClasses().that()
			.resideInAPackage("io.dlock.store..")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage("io.dlock", "io.dlock.engine..", "io.dlock.aop..")
			.check(CLASSES);
		noClasses().that()
			.resideInAPackage("io.dlock.store")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage("io.dlock.store.*..")
			.check(CLASSES);
		SlicesRuleDefinition.slices().matching("io.dlock.store.(*)..").should().notDependOnEachOther().check(CLASSES);
	}

	@Test
	void fencingKnowsTheApiAndStorageKeys() {
		noClasses().that()
			.resideInAPackage("io.dlock.fencing..")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage("io.dlock.engine..", "io.dlock.store.*..", "io.dlock.aop..")
			.check(CLASSES);
		noClasses().that()
			.resideInAnyPackage("io.dlock.engine..", "io.dlock.store..", "io.dlock.aop..")
			.should()
			.dependOnClassesThat()
			.resideInAPackage("io.dlock.fencing..")
			.check(CLASSES);
		SlicesRuleDefinition.slices().matching("io.dlock.fencing.(*)..").should().notDependOnEachOther().check(CLASSES);
	}

	@Test
	void metersAndObservationsKnowOnlyTheApi() {
		noClasses().that()
			.resideInAnyPackage("io.dlock.metrics..", "io.dlock.observation..")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage("io.dlock.engine..", "io.dlock.store..", "io.dlock.aop..", "io.dlock.fencing..")
			.check(CLASSES);
		noClasses().that()
			.resideOutsideOfPackage("io.dlock.metrics..")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage("io.dlock.metrics..", "io.micrometer.core..")
			.check(CLASSES);
	}

	@Test
	void coreRunsWithoutSpringBoot() {
		noClasses().should().dependOnClassesThat().resideInAPackage("org.springframework.boot..").check(CLASSES);
	}

	@Test
	void redisAndJdbcAreIndependent() {
		noClasses().that()
			.resideOutsideOfPackages("io.dlock.store.redis..", "io.dlock.fencing.redis..")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage("org.springframework.data.redis..", "io.lettuce..", "redis.clients..")
			.check(CLASSES);
		noClasses().that()
			.resideOutsideOfPackages("io.dlock.store.jdbc..", "io.dlock.fencing.jdbc..")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage("org.springframework.jdbc..", "java.sql..", "javax.sql..", "com.zaxxer..")
			.check(CLASSES);
	}

	@Test
	void onlyTheAspectNeedsAspectJ() {
		noClasses().that()
			.resideOutsideOfPackage("io.dlock.aop.aspectj")
			.should()
			.dependOnClassesThat()
			.resideInAPackage("org.aspectj..")
			.orShould()
			.dependOnClassesThat()
			.haveSimpleName("DistributedLockedAspect")
			.check(CLASSES);
		noClasses().that()
			.haveSimpleName("WovenMethods")
			.or()
			.haveSimpleName("ProxiedInvocation")
			.should()
			.dependOnClassesThat()
			.resideInAPackage("org.aspectj..")
			.check(CLASSES);
	}

	@Test
	void engineReadsTheClocksInOnePlace() {
		noClasses().that()
			.resideInAPackage("io.dlock.engine..")
			.and()
			.doNotHaveFullyQualifiedName("io.dlock.engine.concurrent.MachineClock$1")
			.should()
			.callMethod(System.class, "nanoTime")
			.orShould()
			.callMethod(System.class, "currentTimeMillis")
			.check(CLASSES);
		noClasses().that()
			.resideOutsideOfPackage("io.dlock.store.memory..")
			.should()
			.callMethod(java.time.Instant.class, "now")
			.check(CLASSES);
	}

	/**
	 * AssertJ also takes a future that is not done in time for one that fails.
	 */
	@Test
	void testsAskForTheFailureOfAFuture() {
		Pattern unasked = Pattern.compile("failsWithin\\((?:[^()]|\\([^()]*\\))*\\);");
		assertThat(Repository.files(".java", ".kt")).filteredOn((file) -> unasked.matcher(Repository.read(file)).find())
			.isEmpty();
	}

	/**
	 * Statements number their parameters ({@code %1$d}), and messages do not. A file with
	 * statements that do not number them has no {@code %d} at all.
	 */
	@Test
	void statementsHaveNoDigitsOfTheLanguageOfTheMachine() {
		Pattern digits = Pattern.compile("%\\d\\$d");
		Pattern statements = Pattern.compile("(Sql|Dialect|SqlQuarantine|RedisQuarantineScripts)\\.java$");
		assertThat(Repository.files(".java")).filteredOn((file) -> file.toString().contains("/dlock-core/src/main/"))
			.filteredOn((file) -> digits.matcher(Repository.read(file)).find()
					|| statements.matcher(file.toString()).find() && Repository.read(file).contains("%d"))
			.isEmpty();
	}

	@Test
	void noClassSleeps() {
		noClasses().should().callMethod(Thread.class, "sleep", long.class).check(CLASSES);
	}

	/**
	 * A thread that outlives a call must not keep the thread-locals of its caller, such
	 * as the user of a request.
	 */
	@Test
	void threadsInheritNoThreadLocals() {
		noClasses().should()
			.callConstructorWhere(describe("inherits them",
					(JavaConstructorCall call) -> call.getTargetOwner().isEquivalentTo(Thread.class)
							&& call.getTarget().getRawParameterTypes().size() < 5))
			.orShould()
			.dependOnClassesThat()
			.haveSimpleName("CustomizableThreadFactory")
			.orShould()
			.dependOnClassesThat()
			.haveSimpleName("Executors")
			.check(CLASSES);
	}

	@Test
	void everyPackageIsNullMarked() {
		classes().that()
			.haveSimpleName("package-info")
			.should()
			.beAnnotatedWith("org.jspecify.annotations.NullMarked")
			.check(CLASSES);
	}

	@Test
	void engineHasOnePublicClass() {
		classes().that()
			.resideInAPackage("io.dlock.engine")
			.and()
			.doNotHaveSimpleName("LeaseLockRegistry")
			.and()
			.areTopLevelClasses()
			.should()
			.notBePublic()
			.check(CLASSES);
	}

}
