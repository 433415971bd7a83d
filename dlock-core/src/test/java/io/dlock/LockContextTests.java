package io.dlock;

import java.lang.reflect.Field;
import java.time.Duration;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LockContextTests {

	@Test
	void innermostOpenBindingIsCurrent() {
		LockHandle outer = new UnboundHandle();
		LockHandle inner = new UnboundHandle();
		try (LockContext.Binding first = LockContext.bind(outer)) {
			LockContext.Binding second = LockContext.bind(inner);
			assertThat(LockHandle.current()).containsSame(inner);
			second.close();
			second.close();
			assertThat(LockHandle.current()).containsSame(outer);
		}
		assertThat(LockHandle.current()).isEmpty();
	}

	@Test
	void bindingClosedByAnotherThreadIsGone() throws Exception {
		LockContext.Binding binding = LockContext.bind(new UnboundHandle());
		Thread other = new Thread(binding::close);
		other.start();
		other.join();
		assertThat(LockHandle.current()).isEmpty();
	}

	/**
	 * Lock coupling: the next is taken before the last is given back.
	 */
	@Test
	void closedBindingsBelowAnOpenOneAreNotKept() throws Exception {
		LockContext.Binding last = LockContext.bind(new UnboundHandle());
		for (int i = 0; i < 10_000; i++) {
			LockContext.Binding next = LockContext.bind(new UnboundHandle());
			last.close();
			last = next;
		}
		assertThat(depth(last)).isLessThan(5);
		last.close();
		assertThat(LockHandle.current()).isEmpty();
	}

	private static int depth(LockContext.Binding innermost) throws ReflectiveOperationException {
		Field outer = LockContext.Binding.class.getDeclaredField("outer");
		outer.setAccessible(true);
		int depth = 0;
		for (Object binding = innermost; binding != null; binding = outer.get(binding)) {
			depth++;
		}
		return depth;
	}

	private static final class UnboundHandle implements LockHandle {

		@Override
		public String key() {
			return "key";
		}

		@Override
		public long token() {
			return 1;
		}

		@Override
		public boolean isValid() {
			return true;
		}

		@Override
		public Duration remaining() {
			return Duration.ofSeconds(1);
		}

		@Override
		public void assertHeld() {
		}

		@Override
		public void onLost(Consumer<? super LockHandle> listener) {
		}

		@Override
		public void release() {
		}

	}

}
