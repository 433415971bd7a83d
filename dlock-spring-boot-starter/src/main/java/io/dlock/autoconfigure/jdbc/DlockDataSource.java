package io.dlock.autoconfigure.jdbc;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.beans.factory.annotation.Qualifier;

/**
 * Marks the {@code DataSource} of the locks, which is used as it is: dlock opens no pool
 * of its own beside it. It should have at least two connections, with short timeouts, in
 * auto-commit mode and READ COMMITTED. Without {@code defaultCandidate = false}, Spring
 * Boot creates no {@code DataSource} for the application.
 *
 * <pre class="code">
 * &#64;Bean(defaultCandidate = false)
 * &#64;DlockDataSource
 * DataSource lockDataSource() { ... }
 * </pre>
 *
 * @since 0.1
 */
@Target({ ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER, ElementType.TYPE, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Qualifier
public @interface DlockDataSource {

}
