package io.dlock.torture.server;

import java.util.List;
import java.util.Map;

import io.dlock.test.TcpProxy;

/**
 * A store without processes.
 *
 * @param type its type
 * @param links its proxies
 * @param figures its figures
 */
public record StoreStub(StoreType type, List<TcpProxy> links, Map<String, Long> figures) implements StoreUnderTest {

	@Override
	public List<ServerNode> nodes() {
		return List.of();
	}

	@Override
	public List<String> clientOptions(int port) {
		return List.of();
	}

	@Override
	public void close() {
	}

}
