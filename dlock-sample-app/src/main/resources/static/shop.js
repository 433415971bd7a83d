'use strict';
const ORDERS = 40;
const STOCK = 20;
const PRODUCT = 'book';
const $ = (selector) => document.querySelector(selector);
const instances = [{ url: location.origin, name: '', process: 0, up: true }];
const holders = [];
let running = false;

function make(tag, classes, text) {
	const node = document.createElement(tag);
	node.className = classes;
	node.textContent = text;
	return node;
}

async function call(instance, path, method, body) {
	return fetch(instance.url + path, {
		method: method || 'GET',
		headers: body ? { 'Content-Type': 'application/json' } : {},
		body: body ? JSON.stringify(body) : undefined,
		signal: AbortSignal.timeout(90000)
	});
}

const up = () => instances.filter((instance) => instance.up);
const colour = (name) => 'i' + Math.max(0, instances.findIndex((instance) => instance.name === name)) % 2;

/* the other instances, at the host name of this page */
async function findInstances() {
	const own = await (await call(instances[0], '/instance')).json();
	instances[0].name = own.instance;
	for (const address of own.instances) {
		const url = new URL(address);
		url.hostname = location.hostname;
		if (!instances.some((instance) => instance.url === url.origin)) {
			instances.push({ url: url.origin, name: '', process: 0, up: false });
		}
	}
	await Promise.all(instances.map(async (instance) => {
		try {
			const found = await (await call(instance, '/instance')).json();
			Object.assign(instance, { name: found.instance, process: found.process, up: true });
		}
		catch (e) {
			instance.up = false;
		}
	}));
	$('#instances').replaceChildren(...instances.map((instance, i) => make('li', instance.up ? 'i' + i % 2 : 'down',
		instance.up ? instance.name + ', process ' + instance.process : instance.url + ' does not run')));
	$('#how-many').textContent = up().length === 1 ? 'one instance' : (up().length === 2 ? 'two' : up().length) + ' instances';
}

async function fire(panel, query) {
	if (running) {
		return;
	}
	running = true;
	document.querySelectorAll('article button').forEach((button) => button.disabled = true);
	const verdict = panel.querySelector('.verdict');
	const sales = panel.querySelector('.sales');
	verdict.className = 'verdict';
	verdict.textContent = 'Selling …';
	sales.replaceChildren();
	panel.querySelector('.numbers').textContent = '';
	try {
		await findInstances();
		await call(up()[0], '/stock/' + PRODUCT, 'PUT', { stock: STOCK });
		const counts = { accepted: 0, refused: 0, failed: 0 };
		const shops = up();
		await Promise.all(Array.from({ length: ORDERS }, (_, i) => order(shops[i % shops.length], query, counts, sales)));
		const level = await (await call(shops[0], '/stock/' + PRODUCT)).json();
		panel.querySelector('.numbers').textContent = counts.accepted + ' accepted, ' + counts.refused + ' refused'
			+ (counts.failed ? ', ' + counts.failed + ' failed' : '') + '. ' + level.sold + ' sold, ' + level.stock + ' said to be left.';
		const over = level.sold - STOCK;
		const wrong = over > 0 || STOCK - level.sold !== level.stock;
		verdict.className = 'verdict ' + (wrong ? 'bad' : counts.failed ? '' : 'good');
		verdict.textContent = over > 0 ? 'Oversold: ' + level.sold + ' of ' + STOCK + ' books'
			: wrong ? 'Wrong: ' + level.sold + ' sold, ' + level.stock + ' left' : counts.failed ? 'Not all orders got an answer' : 'Correct: ' + level.sold + ' of ' + STOCK + ' books';
	}
	catch (e) {
		verdict.textContent = 'No answer: ' + e.message;
	}
	running = false;
	document.querySelectorAll('article button').forEach((button) => button.disabled = false);
}

async function order(instance, query, counts, sales) {
	try {
		const response = await call(instance, '/orders' + query, 'POST', { product: PRODUCT, quantity: 1 });
		const answer = await response.json();
		if (response.status === 201) {
			counts.accepted++;
			const left = String(answer.stockLeft);
			const same = [...sales.children].filter((sale) => sale.textContent === left);
			const sale = make('li', colour(answer.instance) + (same.length ? ' twice' : ''), left);
			sale.title = answer.instance + (answer.token ? ', token ' + answer.token : ', no lock');
			same.forEach((other) => other.classList.add('twice'));
			sales.append(sale);
		}
		else if (response.status === 409) {
			counts.refused++;
		}
		else {
			counts.failed++;
		}
	}
	catch (e) {
		counts.failed++;
	}
}

/* the lock, as LockRegistry.find shows it */
async function watch() {
	let pause = running ? 120 : 700;
	try {
		const asked = up()[up().length - 1] || instances[0];
		const locks = await (await call(asked, '/locks')).json();
		const lock = locks.find((each) => each.product === PRODUCT);
		$('#holder').textContent = lock && lock.holder ? 'Held by ' + lock.holder + ' to ' + lock.reason + ', token ' + lock.token : 'Free';
		if (lock && lock.holder && (!holders.length || holders[0].token !== lock.token)) {
			holders.unshift(lock);
			holders.length = Math.min(holders.length, 12);
			$('#holders').replaceChildren(...holders.map((each) => {
				const item = make('li', colour(each.holder.split(' [')[0]), each.holder.split(' [')[0]);
				item.title = each.holder + ', token ' + each.token;
				return item;
			}));
		}
		const holder = lock && lock.holder && instances.find((each) => each.name === lock.holder.split(' [')[0]);
		$('#kill').textContent = 'kill -9 ' + (holder ? holder.process : instances[0].process);
		$('#console').href = asked.url + '/actuator/dlocks/console?filter=stock:' + PRODUCT;
	}
	catch (e) {
		$('#holder').textContent = 'An instance does not answer';
		pause = 1000;
		await findInstances().catch(() => null);
	}
	setTimeout(watch, document.hidden ? 3000 : pause);
}

async function countByHand() {
	$('#slow').disabled = true;
	await call(up()[0] || instances[0], '/stock/' + PRODUCT + '/count', 'POST').catch(() => null);
	$('#slow').disabled = false;
}

$('#without button').addEventListener('click', () => fire($('#without'), '?lock=false'));
$('#with button').addEventListener('click', () => fire($('#with'), ''));
$('#slow').addEventListener('click', countByHand);
findInstances().then(watch, watch);
