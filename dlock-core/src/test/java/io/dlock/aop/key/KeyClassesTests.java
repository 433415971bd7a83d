package io.dlock.aop.key;

import java.lang.ref.WeakReference;
import java.lang.reflect.Method;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.springframework.core.OverridingClassLoader;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ReflectionUtils;

import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The classes of an application that ended are not kept, as in a servlet container or
 * with a restart of the development tools.
 */
class KeyClassesTests {

	public static class Order {

		public String getId() {
			return "7";
		}

	}

	public static class Orders {

		public void pay(Order order) {
		}

	}

	@Test
	void sharedKeyStateDoesNotRetainClassLoader() throws Exception {
		WeakReference<ClassLoader> loader = key();
		// as a context does that closes
		ReflectionUtils.clearCache();
		AnnotationUtils.clearCache();
		ResolvableType.clearCache();
		await().atMost(Patience.EVENTUALLY).untilAsserted(() -> {
			System.gc();
			assertThat(loader.get()).isNull();
		});
	}

	private static WeakReference<ClassLoader> key() throws Exception {
		ClassLoader loader = new OverridingClassLoader(KeyClassesTests.class.getClassLoader()) {

			@Override
			protected boolean isEligibleForOverriding(String className) {
				return className.startsWith(KeyClassesTests.class.getName() + "$Order");
			}

		};
		Class<?> order = loader.loadClass(Order.class.getName());
		assertThat(order).isNotSameAs(Order.class);
		Class<?> orders = loader.loadClass(Orders.class.getName());
		Method pay = orders.getMethod("pay", order);
		LockKey key = LockKey.of(pay, orders, "", "#p0.id", new KeyValueFormatter(List::of));
		assertThat(key).isNotNull();
		return new WeakReference<>(loader);
	}

}
