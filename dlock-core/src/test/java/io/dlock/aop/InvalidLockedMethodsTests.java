package io.dlock.aop;

import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;

import javax.tools.ToolProvider;

import io.reactivex.rxjava3.core.Single;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.context.support.GenericApplicationContext;
import reactor.core.publisher.ConnectableFlux;
import reactor.core.publisher.Flux;

import io.dlock.DistributedLocked;
import io.dlock.LockRegistry;
import io.dlock.LockSettings;
import io.dlock.OnBusy;
import io.dlock.aop.elsewhere.InOtherPackage;
import io.dlock.aop.key.KeyValueFormatter;
import io.dlock.aop.key.LockKey;
import io.dlock.aop.key.RefusedKeyException;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Methods that are refused when their bean is created, and the messages.
 */
class InvalidLockedMethodsTests {

	private final LeaseLockRegistry registry = new LeaseLockRegistry(new MemoryLockStore(), LockSettings.defaults());

	@AfterEach
	void close() {
		this.registry.close();
	}

	private InvalidLockedMethodException refusal(Class<?> type) {
		try (GenericApplicationContext context = new GenericApplicationContext()) {
			DistributedLockedBeanPostProcessor postProcessor = new DistributedLockedBeanPostProcessor(
					() -> this.registry);
			postProcessor.setProxyTargetClass(true);
			context.registerBean(DistributedLockedBeanPostProcessor.class, () -> postProcessor);
			context.registerBean(LockRegistry.class, () -> this.registry);
			context.registerBean(type);
			BeanCreationException ex = catchThrowableOfType(BeanCreationException.class, context::refresh);
			assertThat(ex).as("the bean is refused").isNotNull();
			assertThat(ex.getMostSpecificCause()).isNotNull();
			for (Throwable cause = ex; cause != null; cause = cause.getCause()) {
				if (cause instanceof InvalidLockedMethodException invalid) {
					assertThat(invalid.description()).contains("@DistributedLocked on").endsWith(".");
					assertThat(invalid.action()).endsWith(".");
					return invalid;
				}
			}
			throw ex;
		}
	}

	static class UnknownVariable {

		@DistributedLocked("#oder")
		public void run(String order) {
		}

	}

	@Test
	void r52KeySeesNoTypesAndNoBeans() {
		MethodSpec spec = new MethodSpec();
		assertThat(spec.failure("T(java.lang.System).getProperty('user.home')"))
			.contains("arguments and the method only");
		assertThat(spec.failure("new String('x')")).contains("arguments and the method only");
		assertThat(spec.failure("@lockRegistry.toString()")).contains("arguments and the method only");
		assertThat(spec.failure("#order = 'changed'")).contains("arguments and the method only");
		assertThat(spec.failure("#order.class.classLoader")).contains("no property 'class'");
	}

	/**
	 * A class as a build without {@code -parameters} makes it.
	 */
	@Test
	void missingParametersFlagIsHintedAt(@TempDir Path directory) throws Exception {
		Path source = Files.writeString(directory.resolve("Nameless.java"),
				"public class Nameless { public void run(String order) { } }");
		ToolProvider.getSystemJavaCompiler()
			.run(null, null, null, "-g:none", "-d", directory.toString(), source.toString());
		try (URLClassLoader loader = new URLClassLoader(new URL[] { directory.toUri().toURL() })) {
			Class<?> nameless = loader.loadClass("Nameless");
			Method run = nameless.getMethod("run", String.class);
			assertThatExceptionOfType(RefusedKeyException.class)
				.isThrownBy(() -> LockKey.of(run, nameless, "", "#order", new KeyValueFormatter(List::of)))
				.satisfies((ex) -> assertThat(ex.action()).contains("-parameters", "#p0"));
			assertThat(LockKey.of(run, nameless, "", "#p0", new KeyValueFormatter(List::of))
				.evaluate(new Object[] { "42" })).containsExactly("42");
			assertThatIllegalArgumentException()
				.isThrownBy(() -> LockKey.of(run, nameless, "", "#p0", new KeyValueFormatter(List::of))
					.evaluate(new Object[] { null }))
				.withMessageContaining("-parameters");
		}
	}

	private static final class MethodSpec {

		private String failure(String expression) {
			try {
				return LockKey
					.of(UnknownVariable.class.getMethod("run", String.class), UnknownVariable.class, "", expression,
							new KeyValueFormatter(List::of))
					.evaluate(new Object[] { "42" })
					.get(0);
			}
			catch (NoSuchMethodException ex) {
				throw new IllegalStateException(ex);
			}
			catch (IllegalArgumentException ex) {
				return ex.getMessage();
			}
		}

	}

	static class ShortLease {

		@DistributedLocked(lease = "3999ms")
		public void run() {
		}

	}

	@Test
	void leaseThatDoesNotFitTheStore() {
		assertThat(refusal(ShortLease.class)).hasMessageContaining("3999 ms").hasMessageContaining("4000 ms");
	}

	static class Final {

		@DistributedLocked
		public final void run() {
		}

	}

	static class WarmUp implements InitializingBean {

		@Override
		@DistributedLocked(name = "warm-up")
		public void afterPropertiesSet() {
		}

	}

	static class Farewell implements DisposableBean {

		@Override
		@DistributedLocked(name = "farewell")
		public void destroy() {
		}

	}

	@ParameterizedTest
	@ValueSource(classes = { WarmUp.class, Farewell.class })
	void methodThatTheContainerCallsIsRefused(Class<?> type) {
		InvalidLockedMethodException refusal = refusal(type);
		assertThat(refusal).hasMessageContaining("without its proxy");
		assertThat(refusal.action()).contains("ApplicationReadyEvent");
	}

	static class Private {

		@DistributedLocked
		@SuppressWarnings("unused")
		private void run() {
		}

	}

	static class Static {

		@DistributedLocked
		public static void run() {
		}

	}

	static class PackagePrivate extends InOtherPackage {

	}

	static final class FinalClass {

		@DistributedLocked
		public void run() {
		}

	}

	interface HasPrivate {

		@DistributedLocked
		@SuppressWarnings("unused")
		private void run() {
		}

	}

	static class PrivateInInterface implements HasPrivate {

	}

	@Test
	void methodThatNoProxyCanIntercept() {
		assertThat(refusal(Final.class)).hasMessageContaining("it is final");
		assertThat(refusal(Private.class)).hasMessageContaining("it is private");
		assertThat(refusal(Static.class)).hasMessageContaining("it is static");
		assertThat(refusal(PackagePrivate.class)).hasMessageContaining("package-private in another package");
		assertThat(refusal(FinalClass.class)).hasMessageContaining("in a final class");
		assertThat(refusal(PrivateInInterface.class)).hasMessageContaining("it is private");
	}

	@Test
	void interfaceOrAspectJLocksMethodThatProxyCannotIntercept() {
		assertThat(refusal(Private.class).action()).contains("overridable", "dlock.aop.mode=aspectj");
	}

	static class ReturnsFuture {

		@DistributedLocked
		public Future<String> run() {
			return CompletableFuture.completedFuture("");
		}

	}

	static class SpecialFuture<T> extends CompletableFuture<T> {

	}

	static class ReturnsSpecialFuture {

		@DistributedLocked
		public SpecialFuture<String> run() {
			return new SpecialFuture<>();
		}

	}

	static class ReturnsFutureTask {

		@DistributedLocked
		public FutureTask<String> run() {
			return new FutureTask<>(() -> "");
		}

	}

	static class ReturnsSpecialPublisher {

		@DistributedLocked
		public ConnectableFlux<String> run() {
			return Flux.just("").publish();
		}

	}

	@ParameterizedTest
	@ValueSource(classes = { ReturnsFuture.class, ReturnsSpecialFuture.class, ReturnsFutureTask.class,
			ReturnsSpecialPublisher.class, ReturnsCallable.class })
	void r49MethodWhoseWorkIsNotDoneWhenItReturns(Class<?> type) {
		assertThat(refusal(type)).hasMessageContaining("released too early")
			.hasMessageContaining("Return a CompletableFuture")
			.hasMessageContaining("acquireAsync");
	}

	abstract static class Importer<T> {

		@DistributedLocked(onBusy = OnBusy.SKIP)
		public @Nullable T run() {
			return null;
		}

	}

	static class ListImporter extends Importer<List<String>> {

	}

	@Test
	void collectionOfATypeVariableCannotBeSkipped() {
		assertThat(refusal(ListImporter.class)).hasMessageContaining("for which null is not an empty value");
	}

	static class SkipsSingle {

		@DistributedLocked(onBusy = OnBusy.SKIP)
		public Single<String> run() {
			return Single.just("");
		}

	}

	@Test
	void policyThatCannotBeHonoured() {
		assertThat(refusal(SkipsSingle.class)).hasMessageContaining("cannot be empty");
		assertThat(refusal(LockedFallback.class)).hasMessageContaining("locked itself");
	}

	static class ReturnsCallable {

		@DistributedLocked
		public Callable<String> run() {
			return () -> "";
		}

	}

	static class LockedFallback {

		@DistributedLocked(fallback = "run")
		public void run() {
		}

	}

	@DistributedLocked
	static class FinalByClass {

		public final void run() {
		}

	}

	@DistributedLocked
	static class AsyncByClass {

		public Future<String> run() {
			return CompletableFuture.completedFuture("");
		}

	}

	@Test
	void classLevelAnnotationIsCheckedForEveryPublicMethod() {
		assertThat(refusal(AsyncByClass.class)).hasMessageContaining("released too early");
		assertThat(refusal(FinalByClass.class)).hasMessageContaining("it is final");
	}

}
