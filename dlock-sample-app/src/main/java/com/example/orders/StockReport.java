package com.example.orders;

import java.util.stream.Collectors;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

import io.dlock.DistributedLocked;
import io.dlock.OnBusy;
import io.dlock.OnStoreFailure;

/**
 * Writes the stock to the log, in one instance at a time: the others find the lock taken,
 * because it stays so for most of the period although the report is done in no time. A
 * report that hangs loses its lock. While the locks cannot be reached all instances
 * write: better twice than not at all.
 */
@Component
class StockReport {

	private static final Log log = LogFactory.getLog(StockReport.class);

	private final Stock stock;

	StockReport(Stock stock) {
		this.stock = stock;
	}

	@Scheduled(cron = "${orders.report-cron:0 * * * * *}")
	@DistributedLocked(name = "stock-report", waitTime = "0s", onBusy = OnBusy.SKIP, minHold = "50s", maxHold = "5m",
			onStoreFailure = OnStoreFailure.PROCEED)
	void write() {
		log.info(this.stock.products()
			.stream()
			.map(this.stock::level)
			.map((level) -> level.product() + " " + level.stock())
			.collect(Collectors.joining(", ", "Stock: ", "")));
	}

}
