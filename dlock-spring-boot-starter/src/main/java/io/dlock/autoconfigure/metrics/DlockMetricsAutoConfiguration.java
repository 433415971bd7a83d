package io.dlock.autoconfigure.metrics;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;

import io.dlock.autoconfigure.DlockAutoConfiguration;
import io.dlock.metrics.LockMeters;

/**
 * Auto-configuration of the meters of locks, if the application has a
 * {@link MeterRegistry}. Define your own {@link LockMeters} bean to replace them;
 * {@code management.metrics.enable.dlock=false} turns them off.
 *
 * @since 0.1
 */
@AutoConfiguration(after = DlockAutoConfiguration.class,
		afterName = "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(MeterRegistry.class)
public final class DlockMetricsAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	LockMeters dlockMeters(ListableBeanFactory beans) {
		LockRegistryCounts counts = new LockRegistryCounts(beans);
		return new LockMeters(counts::byName, counts::quarantine);
	}

	@Bean
	@ConditionalOnProperty(name = "dlock.backend", havingValue = "quorum")
	MeterBinder dlockQuorumMeters(ListableBeanFactory beans) {
		LockRegistryCounts counts = new LockRegistryCounts(beans);
		return (registry) -> Gauge.builder("dlock.quorum.nodes.answering", counts::answeringNodes)
			.description("Nodes of the quorum that answered the last command of this process")
			.register(registry);
	}

}
