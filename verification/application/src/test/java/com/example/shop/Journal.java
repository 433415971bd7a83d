package com.example.shop;

import io.dlock.DistributedLocked;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/**
 * A journal of attempts. Its entries stay when the transaction of the caller does not.
 */
@Service
class Journal {

	private final Products products;

	Journal(Products products) {
		this.products = products;
	}

	@DistributedLocked(name = "journal")
	@Transactional(propagation = Propagation.REQUIRES_NEW)
	void note(String product) {
		this.products.save(new Product(product, 0));
	}

}
