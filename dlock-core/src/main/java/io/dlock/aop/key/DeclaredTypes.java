package io.dlock.aop.key;

import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.Arrays;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.BaseStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.ResolvableType;
import org.springframework.expression.spel.support.ReflectivePropertyAccessor;
import org.springframework.util.ClassUtils;

/**
 * The declared types of the values that an expression reaches, found as SpEL finds the
 * values at a call. An unknown type is {@link ResolvableType#NONE}.
 */
final class DeclaredTypes {

	/** An interface does not tell whether they are overridden. */
	private static final Set<String> METHODS_OF_OBJECT = Arrays.stream(Object.class.getMethods())
		.map(Method::getName)
		.collect(Collectors.toUnmodifiableSet());

	/** As {@code getClass}, which the context of a call does not let through. */
	private static final Set<String> FINAL_METHODS_OF_OBJECT = Arrays.stream(Object.class.getMethods())
		.filter((method) -> Modifier.isFinal(method.getModifiers()))
		.map(Method::getName)
		.collect(Collectors.toUnmodifiableSet());

	private DeclaredTypes() {
	}

	/**
	 * The type of a property.
	 * @param owner the type that has it
	 * @return the type, or {@code null} if the type is known and has no such property
	 */
	static @Nullable ResolvableType ofProperty(ResolvableType owner, String name) {
		Class<?> type = known(owner);
		if (type == null) {
			return ResolvableType.NONE;
		}
		if (type.isArray() && name.equals("length")) {
			return ResolvableType.forClass(int.class);
		}
		Properties properties = new Properties();
		Method getter = properties.getter(name, type);
		if (getter != null) {
			return ofMember(getter, getter.getGenericReturnType(), owner);
		}
		Field field = properties.field(name, type);
		return (field != null) ? ofMember(field, field.getGenericType(), owner) : null;
	}

	/**
	 * The type of what a method returns.
	 * @param owner the type that has it
	 * @param arguments the number of arguments
	 * @return the type, or {@code null} if the type is known and has no such method
	 */
	static @Nullable ResolvableType ofMethod(ResolvableType owner, String name, int arguments) {
		Class<?> type = known(owner);
		if (FINAL_METHODS_OF_OBJECT.contains(name) || type == Class.class
				|| (type != null && ClassLoader.class.isAssignableFrom(type))) {
			return null;
		}
		if ((name.equals("hashCode") && arguments == 0) || (name.equals("compareTo") && arguments == 1)) {
			return ResolvableType.forClass(int.class);
		}
		if (type == null || METHODS_OF_OBJECT.contains(name)) {
			return ResolvableType.NONE;
		}
		List<Method> candidates = Arrays.stream(type.getMethods())
			.filter((method) -> method.getName().equals(name) && !Modifier.isStatic(method.getModifiers()))
			.map(BridgeMethodResolver::findBridgedMethod)
			.distinct()
			.toList();
		if (candidates.isEmpty()) {
			return null;
		}
		Set<Class<?>> results = candidates.stream().map(Method::getReturnType).collect(Collectors.toSet());
		Method first = candidates.get(0);
		return (results.size() == 1 && arguments == first.getParameterCount())
				? ofMember(first, first.getGenericReturnType(), owner) : ResolvableType.NONE;
	}

	/**
	 * The type of an element.
	 * @param owner the type of an array, a collection, a map or a text
	 */
	static ResolvableType ofElement(ResolvableType owner) {
		Class<?> type = known(owner);
		if (type == null) {
			return ResolvableType.NONE;
		}
		if (type.isArray()) {
			return owner.getComponentType();
		}
		if (Collection.class.isAssignableFrom(type)) {
			return standsFor(owner.as(Collection.class).getGeneric(0), owner);
		}
		if (Map.class.isAssignableFrom(type)) {
			return standsFor(owner.as(Map.class).getGeneric(1), owner);
		}
		return (type == String.class) ? owner : ResolvableType.NONE;
	}

	/**
	 * The type of the elements of a value that is several.
	 * @param owner the type of an array, a collection, an iterator or a stream
	 */
	static ResolvableType ofIterated(ResolvableType owner) {
		Class<?> type = known(owner);
		if (type == null || type.isArray()) {
			return ofElement(owner);
		}
		return Stream.of(Iterable.class, Iterator.class, BaseStream.class)
			.filter((iterated) -> iterated.isAssignableFrom(type))
			.findFirst()
			.map((iterated) -> standsFor(owner.as(iterated).getGeneric(0), owner))
			.orElse(ResolvableType.NONE);
	}

	/**
	 * The type of what {@code ?.} reaches into.
	 * @return the type of the value, if it is an {@link Optional}
	 */
	static ResolvableType unwrapped(ResolvableType type) {
		return (type.resolve() == Optional.class) ? type.getGeneric(0) : type;
	}

	static boolean isNumber(ResolvableType type) {
		Class<?> resolved = resolve(type);
		return resolved != null && Number.class.isAssignableFrom(ClassUtils.resolvePrimitiveIfNecessary(resolved));
	}

	static boolean mayBeNumber(ResolvableType type) {
		Class<?> known = known(type);
		return known == null || Number.class.isAssignableFrom(known) || known.isAssignableFrom(Integer.class);
	}

	/**
	 * The type of the elements that a projection or a selection looks at.
	 * @param type the type of the whole
	 * @return the type of an element, or of an entry of a map
	 */
	static ResolvableType ofEach(ResolvableType type) {
		Class<?> known = known(type);
		if (known != null && Map.class.isAssignableFrom(known)) {
			return ResolvableType.forClassWithGenerics(Map.Entry.class,
					Arrays.stream(type.as(Map.class).getGenerics())
						.map((generic) -> standsFor(generic, type))
						.toArray(ResolvableType[]::new));
		}
		return ofElement(type);
	}

	/**
	 * The type of a member.
	 * @param type its generic type
	 * @param owner the type that has it
	 */
	static ResolvableType ofMember(Member member, Type type, ResolvableType owner) {
		return standsFor(ResolvableType.forType(type, owner.as(member.getDeclaringClass())), owner);
	}

	/**
	 * Replace the variable of a generic type by its argument, if that has several bounds
	 * or a lower one, which the variable does not show.
	 */
	private static ResolvableType standsFor(ResolvableType type, ResolvableType owner) {
		ResolvableType argument = type;
		while (argument.getType() instanceof TypeVariable<?> variable
				&& variable.getGenericDeclaration() instanceof Class<?> generic
				&& !owner.as(generic).equals(ResolvableType.NONE)) {
			argument = owner.as(generic).getGeneric(List.of(generic.getTypeParameters()).indexOf(variable));
			if (generic == owner.resolve()) {
				break;
			}
		}
		return (hasLowerBound(argument) || bounds(argument).size() > 1) ? argument : type;
	}

	/**
	 * The class of the values.
	 * @return the class, or {@code null} if it says nothing
	 */
	static @Nullable Class<?> known(ResolvableType type) {
		Class<?> resolved = resolve(type);
		return (resolved == null || resolved == Object.class || bounds(type).size() > 1) ? null
				: ClassUtils.resolvePrimitiveIfNecessary(resolved);
	}

	private static @Nullable Class<?> resolve(ResolvableType type) {
		return hasLowerBound(type) ? null : type.resolve();
	}

	private static boolean hasLowerBound(ResolvableType type) {
		return type.getType() instanceof WildcardType wildcard && wildcard.getLowerBounds().length > 0;
	}

	/**
	 * The types that each value has.
	 * @return the bounds of an intersection, otherwise the type itself
	 */
	static List<ResolvableType> bounds(ResolvableType type) {
		Type[] bounds = { type.getType() };
		while (bounds.length == 1 && (bounds[0] instanceof TypeVariable<?> || bounds[0] instanceof WildcardType)) {
			bounds = (bounds[0] instanceof TypeVariable<?> variable) ? variable.getBounds()
					: ((WildcardType) bounds[0]).getUpperBounds();
		}
		// a variable may stand for a class that has all bounds
		boolean several = bounds.length > 1 && ResolvableType.forType(bounds[0]).resolve() == type.resolve();
		return several ? Arrays.stream(bounds).map((bound) -> ResolvableType.forType(bound, type)).toList()
				: List.of(type);
	}

	/**
	 * The properties that an expression may read.
	 */
	private static final class Properties extends ReflectivePropertyAccessor {

		@Nullable Method getter(String name, Class<?> type) {
			return findGetterForProperty(name, type, false);
		}

		@Nullable Field field(String name, Class<?> type) {
			return findField(name, type, false);
		}

		@Override
		protected boolean isCandidateForProperty(Method method, Class<?> targetClass) {
			Class<?> type = method.getDeclaringClass();
			return type != Object.class && type != Class.class && !ClassLoader.class.isAssignableFrom(targetClass);
		}

	}

}
