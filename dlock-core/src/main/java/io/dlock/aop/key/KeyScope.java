package io.dlock.aop.key;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.expression.TypedValue;

import io.dlock.DistributedLimit;
import io.dlock.DistributedLocked;

/**
 * The part of a key that is the same for all calls of a method: the argument that each
 * variable stands for, the root, and the texts of values.
 */
final class KeyScope {

	static final String PARAMETERS_HINT = "Compile with -parameters, or use #p0, #p1, … for the arguments";

	private static final ParameterNameDiscoverer PARAMETER_NAMES = new DefaultParameterNameDiscoverer();

	private final Method method;

	private final Class<?> targetClass;

	private final KeyValueFormatter texts;

	private final TypedValue root;

	private final Map<String, Integer> positions;

	private boolean named = true;

	KeyScope(Method method, Class<?> targetClass, KeyValueFormatter texts) {
		this.method = method;
		this.targetClass = targetClass;
		this.texts = texts;
		this.root = new TypedValue(new Root(method, targetClass));
		this.positions = positions();
	}

	private Map<String, Integer> positions() {
		Map<String, Integer> names = new HashMap<>();
		for (int i = 0; i < this.method.getParameterCount(); i++) {
			names.put("p" + i, i);
			names.put("a" + i, i);
		}
		addNames(names, this.method);
		// the key may use the parameter names of the annotated method
		Method annotated = annotated();
		if (!annotated.equals(this.method)) {
			addNames(names, annotated);
		}
		return Map.copyOf(names);
	}

	private void addNames(Map<String, Integer> positions, Method declaration) {
		@Nullable String[] names = PARAMETER_NAMES.getParameterNames(declaration);
		this.named = names != null;
		// the continuation of a suspending function has no name
		for (int i = 0; names != null && i < names.length; i++) {
			String name = names[i];
			if (name != null) {
				positions.put(name, i);
			}
		}
	}

	private Method annotated() {
		return (MergedAnnotations.from(this.method, SearchStrategy.TYPE_HIERARCHY)
			.get(DistributedLocked.class)
			.getSource() instanceof Method annotated) ? annotated : this.method;
	}

	KeyValueFormatter texts() {
		return this.texts;
	}

	TypedValue root() {
		return this.root;
	}

	@Nullable Integer position(String variable) {
		return this.positions.get(variable);
	}

	/**
	 * The declared type of an argument.
	 */
	ResolvableType type(int position) {
		return ResolvableType.forMethodParameter(this.method, position, this.targetClass);
	}

	Set<String> variables() {
		Set<String> variables = new TreeSet<>(Set.of("root", "this"));
		variables.addAll(this.positions.keySet());
		return variables;
	}

	/**
	 * Whether the names of the parameters are known.
	 * @return whether they are in the class file
	 */
	boolean isNamed() {
		return this.named;
	}

	@Override
	public String toString() {
		boolean limited = Stream.of(this.method, this.method.getDeclaringClass(), this.targetClass)
			.anyMatch((place) -> AnnotatedElementUtils.hasAnnotation(place, DistributedLimit.class));
		return "@%s on %s.%s".formatted((limited ? DistributedLimit.class : DistributedLocked.class).getSimpleName(),
				this.targetClass.getName(), this.method.getName());
	}

	/**
	 * The value of {@code #root} in an expression.
	 *
	 * @param method the locked method
	 * @param targetClass the class of the bean
	 */
	record Root(Method method, Class<?> targetClass) {

	}

}
