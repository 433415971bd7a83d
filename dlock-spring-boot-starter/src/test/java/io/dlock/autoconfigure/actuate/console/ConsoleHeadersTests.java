package io.dlock.autoconfigure.actuate.console;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * The paths whose answers no browser may keep.
 */
class ConsoleHeadersTests {

	@ParameterizedTest
	@CsvSource({ "/actuator/dlocks, true", "/shop/actuator/dlocks, true", "/actuator/dlock%73, true",
			"/actuator/dlocks;a=b, true", "/actuator/dlocks/console, true", "/actuator/dlocksmith, false",
			"/actuator, false" })
	void headersAreForTheEndpointAndItsFiles(String path, boolean expected) {
		PathMappedEndpoints endpoints = mock();
		given(endpoints.getPath(EndpointId.of("dlocks"))).willReturn("/actuator/dlocks");
		StaticListableBeanFactory beans = new StaticListableBeanFactory();
		beans.addBean("endpoints", endpoints);
		ConsoleHeaders headers = new ConsoleHeaders(beans.getBeanProvider(PathMappedEndpoints.class));
		assertThat(headers.areFor(path)).isEqualTo(expected);
	}

}
