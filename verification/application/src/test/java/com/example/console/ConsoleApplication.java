package com.example.console;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisReactiveAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisRepositoriesAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Profile;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

/**
 * An application with a console behind a form to sign in, where {@code reader} may see
 * keys and {@code ops} may take locks away as well.
 */
@SpringBootApplication(exclude = { DataSourceAutoConfiguration.class, DataRedisAutoConfiguration.class,
		DataRedisReactiveAutoConfiguration.class, DataRedisRepositoriesAutoConfiguration.class })
class ConsoleApplication {

	@Bean
	@Profile("open")
	SecurityFilterChain openToAll(HttpSecurity http) throws Exception {
		return http.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
			.csrf((csrf) -> csrf.disable())
			.build();
	}

	@Bean
	@Profile("!open")
	SecurityFilterChain security(HttpSecurity http) throws Exception {
		return http.authorizeHttpRequests((requests) -> requests.anyRequest().authenticated())
			.formLogin(Customizer.withDefaults())
			.csrf((csrf) -> csrf.spa())
			.build();
	}

	@Bean
	UserDetailsService users() {
		return new InMemoryUserDetailsManager(
				User.withUsername("reader").password("{noop}secret").roles("READER").build(),
				User.withUsername("ops").password("{noop}secret").roles("READER", "OPS").build());
	}

}
