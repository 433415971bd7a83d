package io.dlock.autoconfigure;

import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.http.MediaType;
import org.springframework.test.web.client.MockRestServiceServer;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.support.RestClientAdapter;
import org.springframework.web.service.annotation.GetExchange;
import org.springframework.web.service.invoker.HttpServiceProxyFactory;

import io.dlock.DistributedLocked;
import io.dlock.LockContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.client.match.MockRestRequestMatchers.requestTo;
import static org.springframework.test.web.client.response.MockRestResponseCreators.withSuccess;

/**
 * HTTP clients that are interfaces.
 */
class HttpClientTests {

	interface Prices {

		@GetExchange("/prices/{product}")
		@DistributedLocked(name = "prices", key = "#product")
		String find(@PathVariable String product);

	}

	@Test
	void exchangeIsLocked() {
		AtomicReference<Object> held = new AtomicReference<>();
		RestClient.Builder rest = RestClient.builder().baseUrl("http://prices");
		MockRestServiceServer.bindTo(rest)
			.build()
			.expect(requestTo("http://prices/prices/book"))
			.andRespond((request) -> {
				held.set(LockContext.all().get(0).key());
				return withSuccess("12", MediaType.TEXT_PLAIN).createResponse(request);
			});
		Prices client = HttpServiceProxyFactory.builderFor(RestClientAdapter.create(rest.build()))
			.build()
			.createClient(Prices.class);
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(DlockAutoConfiguration.class))
			.withPropertyValues("dlock.backend=memory")
			.withBean(Prices.class, () -> client)
			.run((context) -> assertThat(context.getBean(Prices.class).find("book")).isEqualTo("12"));
		assertThat(held).hasValue("prices:book");
	}

}
