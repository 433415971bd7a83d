package io.dlock.aop;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;

import javax.tools.ToolProvider;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

import io.dlock.DistributedLocked;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Two class loaders have classes of one package, as with Spring Boot's devtools or in an
 * application server.
 */
class SplitPackageTests {

	private final LeaseLockRegistry registry = new LeaseLockRegistry(new MemoryLockStore(), LockSettings.defaults());

	@AfterEach
	void close() {
		this.registry.close();
	}

	private static void compile(Path directory, String name, String source, Path... classPath) throws Exception {
		Path file = Files.writeString(Files.createDirectories(directory).resolve(name + ".java"), source);
		StringBuilder path = new StringBuilder(
				Path.of(DistributedLocked.class.getProtectionDomain().getCodeSource().getLocation().toURI())
					.toString());
		for (Path each : classPath) {
			path.append(System.getProperty("path.separator")).append(each);
		}
		int result = ToolProvider.getSystemJavaCompiler()
			.run(null, null, null, "-proc:none", "-nowarn", "-cp", path.toString(), "-d", directory.toString(),
					file.toString());
		assertThat(result).isZero();
	}

	@Test
	void packagePrivateMethodOfAnotherClassLoaderIsRefused(@TempDir Path directory) throws Exception {
		Path library = directory.resolve("library");
		Path application = directory.resolve("application");
		compile(library, "Base",
				"package split; public class Base { @io.dlock.DistributedLocked(\"'base'\") void run() { } }");
		compile(application, "Service", "package split; public class Service extends Base { }", library);
		try (URLClassLoader parent = new URLClassLoader(new URL[] { library.toUri().toURL() });
				URLClassLoader child = new URLClassLoader(new URL[] { application.toUri().toURL() }, parent);
				AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.setClassLoader(child);
			context.registerBean(DistributedLockedBeanPostProcessor.class,
					() -> PostProcessors.create(() -> this.registry, AdviceMode.PROXY));
			context.registerBean(child.loadClass("split.Service"));
			assertThatExceptionOfType(BeanCreationException.class).isThrownBy(context::refresh)
				.satisfies(
						(ex) -> assertThat(ex.getMostSpecificCause()).isInstanceOf(InvalidLockedMethodException.class)
							.hasMessageContaining("package-private in another package than split.Service"));
		}
	}

}
