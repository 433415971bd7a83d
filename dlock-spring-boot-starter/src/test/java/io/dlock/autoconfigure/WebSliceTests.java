package io.dlock.autoconfigure;

import java.util.List;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.annotation.Import;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import io.dlock.DistributedLocked;
import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.store.LockStore;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A slice without a store, of an application that has its locks in Redis with a
 * quarantine and checks rows before a commit elsewhere.
 */
@WebMvcTest(properties = { "dlock.backend=redis", "dlock.transaction.commit-check=row",
		"dlock.failover.quarantine=lease", "dlock.failover.longest-lease=30s" })
@Import(WebSliceTests.LockedService.class)
class WebSliceTests {

	@SpringBootConfiguration
	@EnableAutoConfiguration
	@Import(LockedController.class)
	static class Application {

	}

	@RestController
	static class LockedController {

		private final LockedService service;

		LockedController(LockedService service) {
			this.service = service;
		}

		@GetMapping("/locks")
		@DistributedLocked("'controller'")
		public String locks() {
			return this.service.locks();
		}

	}

	static class LockedService {

		@DistributedLocked("'service'")
		public String locks() {
			List<LockHandle> held = LockContext.all();
			return held.stream().map(LockHandle::key).sorted().collect(Collectors.joining(" "));
		}

	}

	@Autowired
	MockMvcTester mvc;

	@Autowired
	LockStore store;

	@Test
	void controllerAndServiceAreLockedInMemory() {
		assertThat(this.mvc.get().uri("/locks")).hasStatusOk().hasBodyTextEqualTo("controller service");
		assertThat(this.store).isInstanceOf(MemoryLockStore.class);
	}

}
