package com.example.shop;

import java.util.List;

import io.dlock.DistributedLocked;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.security.access.prepost.PreAuthorize;

/**
 * The products of the shop.
 */
interface Products extends JpaRepository<Product, String> {

	/**
	 * One list at a time.
	 * @param stock what is little
	 * @return the products to order
	 */
	@PreAuthorize("hasRole('SELLER')")
	@DistributedLocked(name = "catalogue", waitTime = "0s")
	List<Product> findByStockLessThan(int stock);

}
