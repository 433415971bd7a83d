package com.example.orders;

import java.util.List;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.config.annotation.CorsRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/**
 * Tells the front page of one instance where the others are.
 */
@RestController
class InstanceController {

	private final OrdersProperties properties;

	InstanceController(OrdersProperties properties) {
		this.properties = properties;
	}

	@GetMapping("/instance")
	Instance instance() {
		return new Instance(this.properties.instance(), ProcessHandle.current().pid(), this.properties.instances());
	}

	/**
	 * An instance.
	 *
	 * @param instance its name
	 * @param process the id of its process
	 * @param instances the addresses of all instances
	 */
	record Instance(String instance, long process, List<String> instances) {

	}

	/**
	 * The page of one instance calls the others on this machine.
	 */
	@Configuration(proxyBeanMethods = false)
	static class CallsOfThePage {

		@Bean
		WebMvcConfigurer callsOfThePage() {
			return new WebMvcConfigurer() {

				@Override
				public void addCorsMappings(CorsRegistry registry) {
					registry.addMapping("/**")
						.allowedOriginPatterns("http://localhost:[*]", "http://127.0.0.1:[*]")
						.allowedMethods("GET", "POST", "PUT");
				}

			};
		}

	}

}
