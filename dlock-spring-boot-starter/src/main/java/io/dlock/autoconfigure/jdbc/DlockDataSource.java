package io.dlock.autoconfigure.jdbc;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.beans.factory.annotation.Qualifier;

/**
 * Marks the {@code DataSource} that the locks are to use, as it is: dlock opens no pool
 * of its own beside it. Its connections should time out quickly, be in auto-commit mode
 * and READ COMMITTED, and there should be two at the least.
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
