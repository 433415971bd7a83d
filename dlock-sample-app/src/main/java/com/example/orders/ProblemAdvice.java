package com.example.orders;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

import io.dlock.LockBusyException;
import io.dlock.LockException;
import io.dlock.LockLostException;
import io.dlock.LockRegistryClosedException;
import io.dlock.LockStoreException;
import io.dlock.fencing.StaleTokenException;

/**
 * Says what went wrong as a {@link ProblemDetail}, and what the client can do about it.
 */
@RestControllerAdvice
class ProblemAdvice extends ResponseEntityExceptionHandler {

	private static final Log log = LogFactory.getLog(ProblemAdvice.class);

	@ExceptionHandler
	ProblemDetail outOfStock(OutOfStockException ex) {
		return ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, ex.getMessage());
	}

	@ExceptionHandler
	ProblemDetail unknownProduct(UnknownProductException ex) {
		return ProblemDetail.forStatusAndDetail(HttpStatus.NOT_FOUND, ex.getMessage());
	}

	/**
	 * Nothing is wrong, others were faster. The name of the holder, which contains a
	 * host, is in the message of the exception and not in the answer.
	 */
	@ExceptionHandler
	ProblemDetail busy(LockBusyException ex) {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(HttpStatus.LOCKED,
				"This item is being changed by another request. Try again");
		ex.holder().ifPresent((holder) -> problem.setProperty("lockedSince", holder.since()));
		return problem;
	}

	/**
	 * Another holder took over the lock and has written since. Nothing was written here.
	 */
	@ExceptionHandler
	ProblemDetail stale(StaleTokenException ex) {
		return ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT,
				"This came too late: others have changed the stock since. Look at it and try again");
	}

	/**
	 * The transaction is rolled back, unless the lock was lost right after its commit.
	 */
	@ExceptionHandler
	ProblemDetail lost(LockLostException ex) {
		return ProblemDetail.forStatusAndDetail(HttpStatus.INTERNAL_SERVER_ERROR,
				"The lock of the product was lost meanwhile. Look at the stock before you try again");
	}

	/**
	 * The lock could not be taken, so nothing was sold.
	 */
	@ExceptionHandler({ LockStoreException.class, LockRegistryClosedException.class })
	ResponseEntity<ProblemDetail> unavailable(LockException ex) {
		log.warn("A request had to be refused", ex);
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE,
				"The locks cannot be reached at the moment. Try again");
		return ResponseEntity.status(problem.getStatus()).header(HttpHeaders.RETRY_AFTER, "5").body(problem);
	}

	/**
	 * The records of the request bodies say themselves what they do not accept.
	 */
	@Override
	protected @Nullable ResponseEntity<Object> handleHttpMessageNotReadable(HttpMessageNotReadableException ex,
			HttpHeaders headers, HttpStatusCode status, WebRequest request) {
		Throwable cause = ex.getMostSpecificCause();
		String detail = (cause instanceof IllegalArgumentException) ? cause.getMessage()
				: "The body is not what is expected here";
		return handleExceptionInternal(ex, ProblemDetail.forStatusAndDetail(status, detail), headers, status, request);
	}

}
