package io.dlock.aop.call;

import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapter;

/**
 * The return type of a locked method, as far as it matters to its lock.
 *
 * @param kind the event that ends the work
 * @param emptyValue the value of a skipped call, or {@code null}
 * @param open whether only a returned value can tell whether the work is done, because
 * the type does not
 * @param adapter converts to and from publishers, for {@link ReturnKind#PUBLISHER}
 */
public record LockedReturnType(ReturnKind kind, @Nullable Object emptyValue, boolean open,
		@Nullable ReactiveAdapter adapter) {

}
