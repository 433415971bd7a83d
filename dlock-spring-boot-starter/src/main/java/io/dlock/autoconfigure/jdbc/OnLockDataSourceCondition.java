package io.dlock.autoconfigure.jdbc;

import java.util.Arrays;
import java.util.Objects;

import javax.sql.DataSource;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Matches if there is a {@link DataSource} bean, or one with {@link DlockDataSource}.
 */
class OnLockDataSourceCondition extends AnyNestedCondition {

	OnLockDataSourceCondition() {
		super(ConfigurationPhase.REGISTER_BEAN);
	}

	@ConditionalOnBean(DataSource.class)
	static class AnyDataSource {

	}

	@Conditional(OnDlockDataSource.class)
	static class LockDataSource {

	}

	/**
	 * The conditions of Spring Boot ignore beans that are not default candidates.
	 */
	static class OnDlockDataSource extends SpringBootCondition implements ConfigurationCondition {

		@Override
		public ConfigurationPhase getConfigurationPhase() {
			return ConfigurationPhase.REGISTER_BEAN;
		}

		@Override
		public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
			ListableBeanFactory beans = Objects.requireNonNull(context.getBeanFactory());
			boolean found = Arrays
				.stream(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, DataSource.class, true, false))
				.anyMatch((name) -> beans.findAnnotationOnBean(name, DlockDataSource.class, false) != null);
			return new ConditionOutcome(found,
					ConditionMessage.forCondition("@DlockDataSource").because(found ? "found" : "not found"));
		}

	}

}
