package com.example.orders;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

import org.springframework.context.ApplicationEventPublisher;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

import io.dlock.LockHandle;

/**
 * The stock in the database, and the business step that needs protection: the data that
 * it reads must still be true when it writes.
 */
@Component
class Stock {

	private final JdbcClient jdbc;

	private final OrdersProperties properties;

	private final ApplicationEventPublisher events;

	Stock(JdbcClient jdbc, OrdersProperties properties, ApplicationEventPublisher events) {
		this.jdbc = jdbc;
		this.properties = properties;
		this.events = events;
	}

	PlacedOrder sell(Order order) {
		int stock = read(order.product());
		if (stock < order.quantity()) {
			throw new OutOfStockException(order, stock);
		}
		pay(this.properties.workTime());
		int stockLeft = stock - order.quantity();
		write(order.product(), stockLeft);
		PlacedOrder placed = insert(order, stockLeft);
		this.events.publishEvent(placed);
		return placed;
	}

	StockLevel level(String product) {
		int stock = read(product);
		int sold = this.jdbc.sql("select coalesce(sum(quantity), 0) from orders where product = ?")
			.param(product)
			.query(Integer.class)
			.single();
		return new StockLevel(product, stock, sold);
	}

	void reset(String product, int pieces) {
		write(product, pieces);
		this.jdbc.sql("delete from orders where product = ?").param(product).update();
	}

	List<String> products() {
		return this.jdbc.sql("select product from stock order by product").query(String.class).list();
	}

	private int read(String product) {
		return this.jdbc.sql("select pieces from stock where product = ?")
			.param(product)
			.query(Integer.class)
			.optional()
			.orElseThrow(() -> new UnknownProductException(product));
	}

	private void write(String product, int pieces) {
		int rows = this.jdbc.sql("update stock set pieces = ? where product = ?").params(pieces, product).update();
		if (rows == 0) {
			throw new UnknownProductException(product);
		}
	}

	private PlacedOrder insert(Order order, int stockLeft) {
		UUID id = UUID.randomUUID();
		Long token = LockHandle.current().map(LockHandle::token).orElse(null);
		this.jdbc.sql("insert into orders (id, product, quantity, token, instance) values (?, ?, ?, ?, ?)")
			.params(id, order.product(), order.quantity())
			.param(token)
			.param(this.properties.instance())
			.update();
		return new PlacedOrder(id, order.product(), order.quantity(), stockLeft,
				(token != null) ? token.toString() : null, this.properties.instance());
	}

	private static void pay(Duration workTime) {
		try {
			Thread.sleep(workTime.toMillis());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while paying", ex);
		}
	}

}
