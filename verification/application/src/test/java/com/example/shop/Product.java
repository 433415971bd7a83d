package com.example.shop;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;

/**
 * A product in stock. It has no version, so that only the lock protects it.
 */
@Entity
class Product {

	@Id
	private String name = "";

	private int stock;

	protected Product() {
	}

	Product(String name, int stock) {
		this.name = name;
		this.stock = stock;
	}

	String name() {
		return this.name;
	}

	int stock() {
		return this.stock;
	}

	int take(int quantity) {
		this.stock -= quantity;
		return this.stock;
	}

}
