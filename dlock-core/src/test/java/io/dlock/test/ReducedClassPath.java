package io.dlock.test;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;

/**
 * Runs code on the class path of the tests without some of its libraries. The classes of
 * dlock are loaded anew there.
 */
public final class ReducedClassPath {

	private ReducedClassPath() {
	}

	/**
	 * Run code without libraries.
	 * @param missing a pattern for the names of the libraries, which begin so
	 * @param code a public class with a public constructor
	 * @return its result, of a class of the platform
	 */
	public static Object call(String missing, Class<? extends Callable<?>> code) throws Exception {
		Pattern excluded = Pattern.compile(".*/(" + missing + ")[^/]*\\.jar");
		URL[] classPath = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
			.filter((path) -> !excluded.matcher(path).matches())
			.map(ReducedClassPath::url)
			.toArray(URL[]::new);
		Thread thread = Thread.currentThread();
		ClassLoader outer = thread.getContextClassLoader();
		try (URLClassLoader loader = new URLClassLoader(classPath, ClassLoader.getPlatformClassLoader())) {
			thread.setContextClassLoader(loader);
			return ((Callable<?>) loader.loadClass(code.getName()).getConstructor().newInstance()).call();
		}
		finally {
			thread.setContextClassLoader(outer);
		}
	}

	private static URL url(String path) {
		try {
			return new File(path).toURI().toURL();
		}
		catch (MalformedURLException ex) {
			throw new IllegalArgumentException(ex);
		}
	}

}
