package com.example.shop;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.OnBusy;
import jakarta.persistence.EntityManager;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.dao.TransientDataAccessResourceException;
import org.springframework.retry.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.validation.annotation.Validated;

/**
 * Changes what is in stock.
 */
@Service
@Validated
class StockService {

	private final Products products;

	private final EntityManager entityManager;

	private final List<Long> attempts = new CopyOnWriteArrayList<>();

	private final AtomicInteger priced = new AtomicInteger();

	private final AtomicInteger inventories = new AtomicInteger();

	StockService(Products products, EntityManager entityManager) {
		this.products = products;
		this.entityManager = entityManager;
	}

	List<Long> attempts() {
		return this.attempts;
	}

	int inventories() {
		return this.inventories.get();
	}

	/**
	 * Sell some of a product.
	 */
	@PreAuthorize("hasRole('SELLER')")
	@DistributedLocked(name = "stock", key = "#product")
	@Transactional
	int sell(@NotBlank String product, @Min(1) int quantity) {
		return this.products.findById(product).orElseThrow().take(quantity);
	}

	/**
	 * The same for callers that have read the product before.
	 */
	@DistributedLocked(name = "stock", key = "#product")
	@Transactional
	int sellFresh(String product, int quantity) {
		Product found = this.products.findById(product).orElseThrow();
		this.entityManager.refresh(found);
		return found.take(quantity);
	}

	@Retryable(retryFor = TransientDataAccessResourceException.class)
	@DistributedLocked(name = "stock", key = "#product")
	@Transactional
	int deliver(String product, int quantity) {
		this.attempts.add(LockHandle.current().orElseThrow().token());
		int stock = this.products.findById(product).orElseThrow().take(-quantity);
		if (this.attempts.size() < 3) {
			throw new TransientDataAccessResourceException("the first two attempts fail");
		}
		return stock;
	}

	@Cacheable("prices")
	@DistributedLocked(name = "prices", key = "#product")
	int price(String product) {
		return this.priced.incrementAndGet();
	}

	@Async
	@DistributedLocked(name = "stock", key = "#product")
	@Transactional
	CompletableFuture<Integer> sellLater(String product, int quantity) {
		return CompletableFuture.completedFuture(this.products.findById(product).orElseThrow().take(quantity));
	}

	@Scheduled(fixedDelay = 20)
	@DistributedLocked(name = "inventory", waitTime = "0s", onBusy = OnBusy.SKIP)
	void inventory() {
		LockHandle.current().orElseThrow().assertHeld();
		this.inventories.incrementAndGet();
	}

}
