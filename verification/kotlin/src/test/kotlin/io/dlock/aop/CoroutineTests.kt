package io.dlock.aop

import io.dlock.DistributedLimit
import io.dlock.DistributedLocked
import io.dlock.LockBusyException
import io.dlock.LockHandle
import io.dlock.LockLostException
import io.dlock.LockMode
import io.dlock.OnBusy
import io.dlock.OnLost
import io.dlock.OnStoreFailure
import io.dlock.aop.key.KeyValueFormatter
import io.dlock.observation.CallObservationFactory
import io.dlock.observation.LockObservationSettings
import io.dlock.ReactiveLockContext
import io.dlock.store.memory.Waiting
import io.dlock.test.ShortTurns
import java.time.Duration
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.TimeoutCancellationException
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.reactor.ReactorContext
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.catchThrowable
import org.awaitility.Awaitility
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout

/**
 * R49: the lock of a suspending function is held until it is done, and that of a flow
 * until its collection is.
 */
@Timeout(60)
internal class CoroutineTests : AbstractDistributedLockedTests() {

	open class Work {

		open val seen: MutableList<String> = mutableListOf()

		@DistributedLocked("#key")
		open suspend fun <T> run(key: String, body: suspend () -> T): T {
			seen.add("run")
			return body()
		}

		@DistributedLocked(keys = ["#keys", "'all'"])
		open suspend fun several(keys: List<String>): List<String> {
			delay(1)
			return ReactiveLockContext.all(currentCoroutineContext()[ReactorContext]!!.context).map { it.key() }.sorted()
		}

		@DistributedLocked("#key", mode = LockMode.SHARED)
		open suspend fun <T> shared(key: String, body: suspend () -> T): T = body()

		@DistributedLocked("#key", waitTime = "30s", fair = true)
		open suspend fun fair(key: String, number: Int) {
			seen.add("$number")
		}

		@DistributedLimit(key = "#key", limit = "2")
		open suspend fun <T> limited(key: String, body: suspend () -> T): T = body()

		@DistributedLocked("#key", waitTime = "20s")
		open suspend fun nothing(key: String, body: suspend () -> Unit) {
			body()
		}

		@DistributedLocked("#key", onBusy = OnBusy.SKIP)
		open suspend fun skipped(key: String): String? = "ran"

		@DistributedLocked("#key", onBusy = OnBusy.SKIP)
		open suspend fun skippedUnit(key: String) {
			seen.add("run")
		}

		@DistributedLocked("#key", fallback = "instead")
		open suspend fun replaced(key: String): String = "ran"

		open suspend fun instead(key: String): String {
			delay(1)
			return "instead of $key"
		}

		@DistributedLocked("#key", lease = "300ms", renew = false, onLost = OnLost.INTERRUPT)
		open suspend fun interrupted(key: String): String {
			awaitCancellation()
		}

		@DistributedLocked("#key")
		open fun numbers(key: String): Flow<Boolean> = flow {
			repeat(3) {
				delay(1)
				emit(handle()?.isValid ?: false)
			}
		}

		@DistributedLocked("#key")
		open suspend fun suspendedNumbers(key: String): Flow<Boolean> {
			delay(1)
			return numbers(key)
		}

	}

	open class Refused {

		@DistributedLocked("#key", onBusy = OnBusy.SKIP)
		open suspend fun skipped(key: String): String = "never null"

	}

	open class RefusedFallback {

		@DistributedLocked("#key", fallback = "instead")
		open suspend fun count(key: String): Int = 1

		open suspend fun instead(key: String): String = "many"

	}

	open class RefusedDeferred {

		@DistributedLocked("#key")
		open fun run(key: String) = CompletableDeferred(key)

	}

	open class RefusedInside {

		@DistributedLocked("#key")
		open suspend fun run(key: String): List<Deferred<String>> = listOf(CompletableDeferred(key))

	}

	open class RefusedSequence {

		@DistributedLocked("#key")
		open suspend fun run(key: String): Sequence<String> = sequenceOf(key)

	}

	open class RefusedFunction {

		@DistributedLocked("#key")
		open fun run(key: String): () -> String = { key }

	}

	open class Unknown {

		@DistributedLocked("#key")
		open suspend fun run(key: String): Any = sequenceOf(key)

	}

	private val work = bean(Work::class.java)

	@AfterEach
	fun nothingIsLeft() {
		Awaitility.await().untilAsserted { assertThat(store.find("key")).isEmpty }
	}

	private fun isFree() = store.find("key").isEmpty

	@Test
	fun functionHoldsAllItsKeys() = runBlocking<Unit> {
		assertThat(work.several(listOf("b", "a"))).containsExactly("a", "all", "b")
		assertThat(store.inspection().list(10).locks()).isEmpty()
	}

	@Test
	fun sharedFunctionsRunTogether() = runBlocking<Unit> {
		val mode = work.shared("key") {
			delay(1)
			assertThat(catchThrowable { runBlocking { work.run("key") { "never" } } })
				.isInstanceOf(LockBusyException::class.java)
			assertThat(runCatching { work.run("key") { "never" } }.exceptionOrNull())
				.isInstanceOf(IllegalStateException::class.java).hasMessageContaining("cannot be upgraded")
			runBlocking { work.shared("key") { handle()!!.mode() } }
		}
		assertThat(mode).isEqualTo(LockMode.SHARED)
	}

	@Test
	fun fairFunctionsAreServedInTheirOrderAlthoughOneGivesUp() {
		var round = 0
		ShortTurns.await { areServedInOrder("round${round++}") }
	}

	private fun areServedInOrder(key: String): Boolean = runBlocking {
		holdElsewhere(key)
		val calls = (0..5).map { number ->
			launch(Dispatchers.IO) { work.fair(key, number) }.also { awaitWaiting(key, number + 1) }
		}
		calls[2].cancelAndJoin()
		awaitWaiting(key, 5)
		work.seen.clear()
		store.release(key, "elsewhere")
		calls.joinAll()
		work.seen == listOf("0", "1", "3", "4", "5")
	}

	private fun awaitWaiting(key: String, calls: Int) =
		Awaitility.await().until { Waiting.processes(store, key) == calls }

	@Test
	fun limitedFunctionHoldsAPermitUntilItIsDone() = runBlocking<Unit> {
		val keys = work.limited("key") {
			delay(1)
			work.limited("key") {
				assertThat(catchThrowable { runBlocking { work.limited("key") { "third" } } })
					.isInstanceOf(LockBusyException::class.java)
				handle()!!.key()
			}
		}
		assertThat(keys).isEqualTo("limit:key")
		assertThat(store.inspection().list(10).locks()).isEmpty()
	}

	@Test
	fun r49SuspendingFunctionHoldsItsLockUntilItIsDone() = runBlocking<Unit> {
		val result = work.run("key") {
			withContext(Dispatchers.IO) {
				delay(20)
				assertThat(isFree()).isFalse()
				handle()!!.key()
			}
		}
		assertThat(result).isEqualTo("key")
		assertThat(isFree()).isTrue()
		work.nothing("key") { assertThat(isFree()).isFalse() }
		assertThat(isFree()).isTrue()
	}

	@Test
	fun r49WaitSuspendsAndBlocksNoThread() = runBlocking<Unit> {
		holdElsewhere("key")
		val waiting = async { work.nothing("key") { } }
		// this thread is the only one of the coroutines
		delay(50)
		assertThat(waiting.isActive).isTrue()
		store.release("key", "elsewhere")
		waiting.await()
	}

	@Test
	fun r49ExceptionReleases() {
		val failure = catchThrowable { runBlocking { work.run<String>("key") { error("of the work") } } }
		assertThat(failure).isInstanceOf(IllegalStateException::class.java).hasMessage("of the work")
		assertThat(isFree()).isTrue()
	}

	@Test
	fun r49CancelAndTimeoutRelease() = runBlocking<Unit> {
		val job = launch { work.run("key") { awaitCancellation() } }
		while (isFree()) {
			delay(1)
		}
		job.cancel()
		job.join()
		Awaitility.await().until { isFree() }
		val failure = catchThrowable {
			runBlocking { withTimeout(100) { work.run("key") { awaitCancellation() } } }
		}
		assertThat(failure).isInstanceOf(TimeoutCancellationException::class.java)
		Awaitility.await().until { isFree() }
	}

	@Test
	fun cancelledWaitNeverRunsTheFunction() = runBlocking<Unit> {
		holdElsewhere("key")
		val job = launch { work.nothing("key") { work.seen.add("run") } }
		delay(20)
		job.cancel()
		job.join()
		store.release("key", "elsewhere")
		assertThat(registry.tryAcquire("key", Duration.ofSeconds(10))).hasValueSatisfying(LockHandle::release)
		assertThat(work.seen).isEmpty()
	}

	@Test
	fun nestedCallIsReentrant() = runBlocking<Unit> {
		val tokens = work.run("key") {
			val outer = handle()!!.token()
			withContext(Dispatchers.IO) {
				listOf(outer, work.run("other") { work.run("key") { handle()!!.token() } })
			}
		}
		assertThat(tokens[0]).isEqualTo(tokens[1])
		assertThat(isFree()).isTrue()
	}

	@Test
	fun busyLockFailsSkipsOrIsReplaced() = runBlocking<Unit> {
		holdElsewhere("key")
		assertThat(catchThrowable { runBlocking { work.run("key") { "never" } } })
			.isInstanceOf(LockBusyException::class.java)
		assertThat(work.skipped("key")).isNull()
		work.skippedUnit("key")
		assertThat(work.replaced("key")).isEqualTo("instead of key")
		assertThat(catchThrowable { runBlocking { work.numbers("key").toList() } })
			.isInstanceOf(LockBusyException::class.java)
		assertThat(work.seen).isEmpty()
		store.release("key", "elsewhere")
		assertThat(work.skipped("key")).isEqualTo("ran")
		assertThat(work.replaced("key")).isEqualTo("ran")
	}

	@Test
	fun lossCancelsTheCoroutineIfAskedFor() {
		assertThat(catchThrowable { runBlocking { work.interrupted("key") } })
			.isInstanceOf(LockLostException::class.java)
	}

	@Test
	fun r49FlowHoldsItsLockWhileItIsCollected() = runBlocking<Unit> {
		val numbers = work.numbers("key")
		assertThat(isFree()).`as`("before it is collected").isTrue()
		assertThat(numbers.toList()).containsExactly(true, true, true)
		assertThat(isFree()).isTrue()
		assertThat(numbers.first()).isTrue()
		Awaitility.await().until { isFree() }
		assertThat(work.suspendedNumbers("key").toList()).containsExactly(true, true, true)
		assertThat(isFree()).isTrue()
	}

	@Test
	fun functionThatCannotBeHonouredIsRefused() {
		assertThat(catchThrowable { parser().parse(Refused::class.java) })
			.hasMessageContaining("cannot be empty").hasMessageContaining("null")
		assertThat(catchThrowable { parser().parse(RefusedFallback::class.java) }).hasMessageContaining("returns java.lang.String instead of")
		for (type in listOf(RefusedDeferred::class, RefusedInside::class, RefusedSequence::class, RefusedFunction::class)) {
			assertThat(catchThrowable { parser().parse(type.java) }).hasMessageContaining("released too early")
		}
		assertThat(parser().parse(Unknown::class.java)).anyMatch { it.returnType.open }
	}

	private fun parser() = LockedOperationParser({ it }, { OnStoreFailure.THROW }, { _, _ -> },
		NamedRegistries({ registry }, { null }), CallObservationFactory { LockObservationSettings.NONE }, KeyValueFormatter { listOf() })

	private fun LockedOperationParser.parse(type: Class<*>) = type.declaredMethods
		.filter { it.isAnnotationPresent(DistributedLocked::class.java) }
		.map { parse(it.getAnnotation(DistributedLocked::class.java), it, type) }

	companion object {

		suspend fun handle(): LockHandle? = currentCoroutineContext()[ReactorContext]
			?.let { ReactiveLockContext.current(it.context).orElse(null) }

	}

}
