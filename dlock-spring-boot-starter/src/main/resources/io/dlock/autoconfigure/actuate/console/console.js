'use strict';
(() => {
	const VERSION = 1;
	const PERIOD = 1500;
	const PERIOD_AFTER_A_PROBLEM = 4000;
	const TIMEOUT = 10000;
	const OLD = 8;
	const $ = (id) => document.getElementById(id);
	/* the path of the endpoint, behind any prefix of a proxy */
	const endpoint = location.pathname.replace(/\/console$/, '');
	const params = new URLSearchParams(location.search);
	const wish = { filter: params.get('filter') || '', only: 'all', sort: 'age', page: 1 };
	const rows = new Map();
	const open = new Set();
	let data = null;
	let received = 0;
	let trouble = '';
	let paused = false;
	let timer = 0;
	let request = null;
	let asked = null;

	/* texts: keys, holders and reasons are written as text, never as markup */

	function text(node, value) {
		const wanted = String(value);
		if (node.textContent !== wanted) {
			node.textContent = wanted;
		}
	}

	function make(tag, classes, ...children) {
		const node = document.createElement(tag);
		if (classes) {
			node.className = classes;
		}
		node.append(...children);
		return node;
	}

	function span(seconds) {
		const s = Math.max(0, Math.floor(seconds));
		if (s < 60) {
			return s + ' s';
		}
		if (s < 3600) {
			return Math.floor(s / 60) + ' min ' + String(s % 60).padStart(2, '0') + ' s';
		}
		if (s < 172800) {
			return Math.floor(s / 3600) + ' h ' + String(Math.floor(s / 60) % 60).padStart(2, '0') + ' min';
		}
		return Math.floor(s / 86400) + ' d ' + Math.floor(s / 3600) % 24 + ' h';
	}

	const number = (n) => n.toLocaleString('en');
	const some = (n, one, many) => number(n) + ' ' + (n === 1 ? one : many);
	/* by the clock of this page that cannot be set */
	const elapsed = () => (performance.now() - received) / 1000;

	function announce(message) {
		text($('announce'), message);
	}

	/* requests */

	function classify(response) {
		if (response.type === 'opaqueredirect' || response.status === 401 || response.redirected) {
			return 'session';
		}
		if (response.status === 403) {
			return 'You may not see the locks any more, or your session is over.';
		}
		if (response.status === 404) {
			return 'The console is no longer here: it was turned off, or the application has moved.';
		}
		return response.ok ? '' : 'The application answers with an error (' + response.status + ').';
	}

	async function call(path, method, signal, more) {
		const headers = { 'Accept': 'application/json', 'X-Requested-With': 'XMLHttpRequest' };
		Object.assign(headers, more);
		return fetch(path, { method, headers, signal, credentials: 'same-origin', cache: 'no-store', redirect: 'manual' });
	}

	async function load() {
		clearTimeout(timer);
		if (request) {
			request.abort();
		}
		const mine = new AbortController();
		request = mine;
		const limit = setTimeout(() => mine.abort(), TIMEOUT);
		const begin = performance.now();
		let problem = '';
		try {
			const query = new URLSearchParams({ only: wish.only, sort: wish.sort, page: wish.page });
			if (wish.filter.trim()) {
				query.set('filter', wish.filter);
			}
			const response = await call(endpoint + '/console.json?' + query, 'GET', mine.signal);
			problem = classify(response);
			if (!problem && !(response.headers.get('Content-Type') || '').includes('json')) {
				problem = 'session';
			}
			if (!problem) {
				const answer = await response.json();
				if (answer.version === VERSION) {
					data = answer;
					received = performance.now();
				}
				else {
					problem = 'The application has a newer console than this page. Reload the page.';
				}
			}
		}
		catch (e) {
			problem = 'The application does not answer.';
		}
		clearTimeout(limit);
		if (request !== mine) {
			return;
		}
		request = null;
		report(problem);
		render();
		schedule(problem ? PERIOD_AFTER_A_PROBLEM : Math.max(PERIOD, 5 * (performance.now() - begin)));
	}

	function schedule(delay) {
		clearTimeout(timer);
		if (!paused && !document.hidden) {
			timer = setTimeout(load, delay);
		}
	}

	function report(problem) {
		trouble = problem;
		const banner = $('problem');
		const known = banner.dataset.problem || '';
		if (known === problem) {
			return;
		}
		banner.dataset.problem = problem;
		banner.hidden = !problem;
		banner.replaceChildren();
		if (problem === 'session') {
			const link = make('a', '', 'Sign in again');
			link.href = location.href;
			banner.append('Your session is over. ', link, '. ', make('span', 'since'));
		}
		else if (problem) {
			banner.append(problem + ' ', make('span', 'since'));
		}
		else {
			announce('The data is up to date again.');
		}
	}

	/* the page */

	function render() {
		const since = data ? elapsed() : 0;
		fresh(since);
		if (!data) {
			return;
		}
		tiles(since);
		notes();
		table(since);
		events(since);
		dialog(since);
	}

	function fresh(since) {
		const node = $('fresh');
		const old = trouble || (data && !paused && since > OLD);
		node.className = 'fresh' + (old ? ' old' : paused ? ' paused' : '');
		text(node, !data ? (trouble ? 'No data' : 'Loading')
			: (old ? 'Data is ' + span(since) + ' old' : (paused ? 'Paused, ' : 'Live, ') + span(since) + ' ago'));
		$('main').classList.toggle('stale', Boolean(old));
		const age = document.querySelector('#problem .since');
		if (age) {
			text(age, data ? 'What you see below is old.' : '');
		}
	}

	function tile(id, classes, main, more) {
		const node = $(id);
		node.className = 'big ' + classes;
		text(node, main);
		text($(id + '-more'), more);
	}

	function tiles(since) {
		const { process, store, events } = data;
		text($('instance'), process.instance);
		document.title = 'Locks · ' + process.instance;
		if (store.state === 'unknown') {
			tile('store', '', 'Checking', '');
		}
		else {
			const up = store.state === 'up';
			const quarantine = store.quarantineSeconds - since;
			tile('store', !up ? 'failed' : quarantine > 0 ? 'warned' : '',
				!up ? 'Down' : quarantine > 0 ? 'Quarantine' : 'Up, ' + took(store.tookMillis),
				!up ? store.failure : quarantine > 0 ? 'no new locks for another ' + span(quarantine)
				: [store.server, store.role].filter(Boolean).join(', ') || store.name);
			$('store-more').title = store.name || '';
		}
		tile('held', '', number(process.held) + ' held', some(process.waiting, 'request waits', 'requests wait'));
		const next = process.secondsToNextExpiry;
		const late = events.renewalFailed > 0;
		tile('renewal', late ? 'warned' : '', late ? number(events.renewalFailed) + ' late' : 'On time',
			next == null ? 'nothing to renew' : 'the next lease ends in ' + span(next - since) + ' unless renewed');
		tile('incidents', events.lost > 0 ? 'failed' : '', number(events.lost) + ' lost',
			number(events.busy) + ' busy' + (events.storeFailed > 0 ? ', ' + number(events.storeFailed) + ' failed in the store' : ''));
	}

	function took(millis) {
		return (millis < 10 ? millis.toFixed(1) : Math.round(millis)) + ' ms';
	}

	function notes() {
		const warnings = data.store.warnings;
		const box = $('warnings');
		box.hidden = warnings.length === 0;
		text(box.querySelector('summary'), some(warnings.length, 'warning', 'warnings') + ' about the store');
		const list = box.querySelector('ul');
		if (list.childElementCount !== warnings.length || warnings.some((w, i) => list.children[i].textContent !== w)) {
			list.replaceChildren(...warnings.map((w) => make('li', '', w)));
		}
		const { problem, complete, total } = data.locks;
		const partial = problem ? 'Only locks of this process are shown. ' + problem
			: !complete ? 'The store has more locks than the ' + number(total) + ' that are shown and searched. A whole key in the filter is always found.'
			: '';
		$('partial').hidden = !partial;
		text($('partial'), partial);
		text($('footer'), (data.keys === 'hidden' ? 'Keys are hidden from you: each is shown as a hash of this process. ' : '')
			+ 'Ages and leases are by the clock of the store.');
	}

	function table(since) {
		const { locks } = data;
		const filtered = wish.filter.trim() !== '' || wish.only !== 'all';
		text($('count'), filtered ? number(locks.matching) + ' of ' + number(locks.total) : number(locks.total));
		const active = document.activeElement;
		const body = $('rows');
		const seen = new Set();
		let place = body.firstChild;
		for (const lock of locks.items) {
			seen.add(lock.key);
			let row = rows.get(lock.key);
			if (!row) {
				row = newRow(lock.key);
				rows.set(lock.key, row);
			}
			row.update(lock, since);
			for (const part of row.parts()) {
				if (part === place) {
					place = place.nextSibling;
				}
				else {
					body.insertBefore(part, place);
				}
			}
		}
		for (const [key, row] of rows) {
			if (!seen.has(key)) {
				row.remove();
				rows.delete(key);
			}
		}
		if (active && active !== document.activeElement && active.isConnected) {
			active.focus({ preventScroll: true });
		}
		empty(locks, filtered);
		$('pages').hidden = locks.pages < 2;
		text($('page'), 'Page ' + locks.page + ' of ' + locks.pages);
		$('previous').disabled = locks.page <= 1;
		$('next').disabled = locks.page >= locks.pages;
	}

	function empty(locks, filtered) {
		const box = $('empty');
		box.hidden = locks.items.length > 0;
		const [first, second] = box.children;
		const filter = wish.filter.trim();
		text(first, !filtered ? 'No lock is held' : filter ? 'No lock matches “' + filter + '”' : 'No such lock');
		text(second, filtered ? 'A lock is here only while it is held or waited for: this one is free.'
			: 'A lock appears here while a process holds it or a request of this process waits for it.');
		$('clear').hidden = !filtered;
	}

	/* a row and, while it is open, its details */

	function newRow(key) {
		let token = '';
		let full = 0;
		const button = make('button', 'key');
		button.type = 'button';
		button.setAttribute('aria-expanded', 'false');
		const name = make('bdi', 'mono cut', key);
		button.append(name);
		button.title = key;
		const kind = make('span', 'chip');
		const top = make('div', 'bar', button, kind);
		top.style.flexWrap = 'nowrap';
		const instance = make('bdi', '');
		const thread = make('bdi', '');
		const holder = [make('span', 'cut', instance), make('span', 'cut sub', thread)];
		const reason = make('bdi', '');
		const age = make('span');
		const bar = make('i');
		const meter = make('div', 'meter', bar);
		meter.setAttribute('aria-hidden', 'true');
		const lease = make('span');
		const wait = make('span');
		const cells = [cell('t-key', '', top), cell('t-holder', 'Holder', ...holder), cell('t-reason', 'Reason', make('span', 'cut', reason)),
			cell('num', 'Held for', age), cell('', 'Lease ends in', lease, meter), cell('num t-wait', 'Wait here', wait)];
		const tr = make('tr', 'row', ...cells);
		tr.setAttribute('role', 'row');
		let detail = null;
		let shown = null;
		let shape = '';

		function toggle() {
			if (open.has(key)) {
				open.delete(key);
			}
			else {
				open.add(key);
			}
			update(shown, elapsed());
			if (detail) {
				tr.after(detail);
			}
		}

		function update(lock, since) {
			shown = lock;
			const first = lock.holders[0];
			const [who, what] = first ? split(first.holder) : ['free', ''];
			kind.hidden = !lock.kind || lock.kind === 'exclusive';
			text(kind, lock.kind || '');
			const more = lock.holderCount > 1 ? ' and ' + some(lock.holderCount - 1, 'other', 'others') : '';
			text(instance, first && first.state === 'kept' ? 'kept after its release' : who);
			text(thread, (first && first.state === 'kept' ? 'by ' + first.holder : what) + more);
			thread.parentNode.title = first ? first.holder : '';
			text(reason, first && first.reason || '');
			reason.parentNode.title = reason.textContent;
			text(age, first ? span(first.heldSeconds + since) : '');
			const left = first ? Math.max(0, first.leaseSeconds - since) : 0;
			text(lease, first ? span(left) : '');
			meter.hidden = !first;
			if (first) {
				full = Math.max(first.token === token ? full : 0, first.leaseSeconds);
				token = first.token;
				bar.style.transform = 'scaleX(' + (full > 0 ? Math.min(1, left / full) : 0).toFixed(3) + ')';
				meter.classList.toggle('low', first.state === 'held' && left < full / 4);
			}
			text(wait, lock.waiterCount || '');
			wait.parentNode.classList.toggle('none', !lock.waiterCount);
			const isOpen = open.has(key);
			button.setAttribute('aria-expanded', String(isOpen));
			tr.classList.toggle('open', isOpen);
			if (!isOpen) {
				if (detail) {
					detail.remove();
					detail = null;
				}
				return;
			}
			const wanted = [data.release, data.keys, ...lock.holders.map((h) => h.token), 'w', lock.waiters.length].join(' ');
			if (!detail || shape !== wanted) {
				const focused = detail && detail.contains(document.activeElement) ? document.activeElement.dataset.token : null;
				const created = make('tr', 'detail', cell('', '', ...details(key, lock)));
				created.setAttribute('role', 'row');
				created.firstChild.colSpan = 6;
				if (detail) {
					detail.replaceWith(created);
				}
				detail = created;
				shape = wanted;
				if (focused) {
					const again = [...detail.querySelectorAll('button')].find((b) => b.dataset.token === focused);
					(again || button).focus({ preventScroll: true });
				}
			}
			for (const field of detail.querySelectorAll('[data-field]')) {
				fill(field, lock, since);
			}
		}

		button.addEventListener('click', toggle);
		return { update, parts: () => detail ? [tr, detail] : [tr], remove() {
			tr.remove();
			if (detail) {
				detail.remove();
			}
		} };
	}

	function cell(classes, label, ...children) {
		const td = make('td', classes, ...children);
		td.setAttribute('role', 'cell');
		if (label) {
			td.dataset.label = label;
		}
		return td;
	}

	function split(holder) {
		const end = holder.indexOf(' [');
		return end < 0 ? [holder, ''] : [holder.substring(0, end), holder.substring(end + 1)];
	}

	function details(key, lock) {
		const parts = [make('div', 'whole mono', make('bdi', '', key))];
		lock.holders.forEach((holder, i) => {
			const list = make('dl', '');
			const line = (name, ...value) => list.append(make('dt', '', name), make('dd', '', ...value));
			line(holder.state === 'kept' ? 'Released by' : 'Holder', make('bdi', '', holder.holder), holder.here ? make('span', 'chip here', 'this process') : '');
			if (holder.name) {
				line('Name', make('bdi', '', holder.name));
			}
			line('Reason', make('bdi', '', holder.reason || 'none'));
			line('Token', make('span', 'mono', holder.token));
			line(holder.state === 'kept' ? 'Taken' : 'Held for', field('age', i));
			line(holder.state === 'kept' ? 'Free in' : 'Lease ends in', field('lease', i));
			const hold = make('div', 'hold', list);
			if (data.release === 'allowed' && data.keys === 'shown') {
				const button = make('button', 'quiet-danger', 'Force release…');
				button.type = 'button';
				button.dataset.token = holder.token;
				button.addEventListener('click', () => ask(key, holder));
				hold.append(button);
			}
			parts.push(hold);
		});
		if (lock.holderCount > lock.holders.length) {
			parts.push(make('p', 'muted', 'and ' + some(lock.holderCount - lock.holders.length, 'other holder', 'other holders')));
		}
		if (lock.waiterCount > 0) {
			const list = make('ol', '');
			lock.waiters.forEach((waiter, i) => list.append(make('li', '', make('bdi', '', waiter.thread),
				waiter.reason ? make('span', 'muted', ' · ', make('bdi', '', waiter.reason)) : '', ' · waits for ', field('waited', i), field('left', i))));
			parts.push(make('div', 'waiters', make('strong', '', 'Requests of this process that wait: ' + number(lock.waiterCount)), list));
		}
		return parts;
	}

	function field(name, index) {
		const node = make('span');
		node.dataset.field = name;
		node.dataset.index = index;
		return node;
	}

	function fill(node, lock, since) {
		const i = Number(node.dataset.index);
		const holder = lock.holders[i];
		const waiter = lock.waiters[i];
		switch (node.dataset.field) {
			case 'age':
				text(node, span(holder.heldSeconds + since) + (holder.state === 'kept' ? ' ago' : ''));
				break;
			case 'lease':
				text(node, span(holder.leaseSeconds - since) + (holder.state === 'kept' ? '' : ' unless it is renewed'));
				break;
			case 'waited':
				text(node, span(waiter.waitedSeconds + since));
				break;
			default:
				text(node, waiter.leftSeconds == null ? ', without an end' : ', gives up in ' + span(waiter.leftSeconds - since));
		}
	}

	/* incidents */

	const TYPES = { 'lost': ['Lost', 'bad'], 'busy': ['Busy', ''], 'renewal-failed': ['Renewal late', 'warn'], 'store-failed': ['Store failed', 'bad'] };

	function events(since) {
		const { items, lost, busy, renewalFailed, storeFailed } = data.events;
		const list = $('events');
		while (list.childElementCount > items.length) {
			list.lastChild.remove();
		}
		items.forEach((event, i) => {
			let line = list.children[i];
			if (!line) {
				const key = make('button', 'key mono', make('bdi', 'cut'));
				key.type = 'button';
				key.addEventListener('click', () => filter(key.title));
				line = make('li', '', make('span', 'muted'), make('span', 'type'), key, make('span', 'text', make('bdi'), ' ', make('bdi', 'muted')));
				list.append(line);
			}
			const [ago, type, key, what] = line.children;
			const [label, tone] = TYPES[event.type] || [event.type, ''];
			text(ago, span(event.agoSeconds + since) + ' ago');
			text(type, label);
			type.className = 'type ' + tone;
			text(key.firstChild, event.key);
			key.title = event.key;
			text(what.firstChild, event.text);
			text(what.lastChild, event.reason || '');
		});
		list.hidden = items.length === 0;
		$('no-events').hidden = items.length > 0;
		text($('no-events').firstChild, lost + busy + renewalFailed + storeFailed ? 'No incident matches the filter.'
			: 'No lock was lost or busy, and no renewal was late.');
	}

	/* forced release */

	function ask(key, holder) {
		asked = { key, token: holder.token, gone: false, done: false };
		text($('r-key'), key);
		text($('r-holder'), holder.holder);
		text($('r-reason'), holder.reason || 'none');
		text($('r-token'), holder.token);
		text($('r-answer'), '');
		text($('r-cancel'), 'Cancel');
		$('r-digits').value = '';
		$('r-digits').disabled = false;
		dialog(elapsed());
		$('release').showModal();
		$('r-digits').focus();
	}

	/* a lock that changes hands meanwhile is not released by mistake */
	function dialog(since) {
		if (!asked) {
			return;
		}
		const lock = data.locks.items.find((l) => l.key === asked.key);
		const { pages, complete, problem } = data.locks;
		const known = !problem && (lock ? lock.holders.length === lock.holderCount : pages <= 1 && complete && wish.only === 'all');
		const holders = lock ? lock.holders.filter((h) => h.token === asked.token) : [];
		$('r-readers').hidden = !lock || lock.kind !== 'shared';
		if (holders.length > 0) {
			text($('r-holder'), holders.map((h) => h.holder).join(', '));
			text($('r-age'), span(holders[0].heldSeconds + since));
			if (!asked.done && !asked.gone) {
				text($('r-answer'), '');
			}
		}
		else if (!known && !asked.done && !asked.gone) {
			text($('r-answer'), 'The lock is not in the list now: it is free, on another page, or the list is incomplete.');
		}
		else if (!asked.done && !asked.gone) {
			asked.gone = true;
			text($('r-answer'), 'This holder does not have the lock any more. Nothing was done.');
		}
		const typed = $('r-digits').value.trim();
		$('r-go').disabled = asked.done || asked.gone || !(typed === asked.token.slice(-6) || typed === asked.token);
	}

	async function release() {
		const mine = asked;
		mine.done = true;
		$('r-go').disabled = true;
		$('r-digits').disabled = true;
		text($('r-answer'), 'Asking the application …');
		const csrf = /(?:^|; )XSRF-TOKEN=([^;]+)/.exec(document.cookie);
		let message;
		try {
			const response = await call(endpoint + '?' + new URLSearchParams({ key: mine.key, token: mine.token }), 'DELETE',
				undefined, csrf ? { 'X-XSRF-TOKEN': decodeURIComponent(csrf[1]) } : {});
			const json = (response.headers.get('Content-Type') || '').includes('json');
			const answer = json ? await response.json() : {};
			message = answer.message || refusal(response);
		}
		catch (e) {
			message = 'The application does not answer. Whether the lock was released is not known: look again.';
		}
		if (asked === mine) {
			text($('r-answer'), message);
			text($('r-cancel'), 'Close');
			$('r-cancel').focus();
		}
		announce(message);
		load();
	}

	function refusal(response) {
		if (response.status === 403) {
			return 'The security of the application refuses it: a right is missing, or its protection against forged requests (CSRF) gives this page no token. Nothing was done.';
		}
		if (response.status === 405) {
			return 'The endpoint is read-only here. Nothing was done.';
		}
		return classify(response) === 'session' ? 'Your session is over. Nothing was done.'
			: 'The application answers with an error (' + response.status + '). Check again whether the lock is held.';
	}

	/* what the viewer does */

	function change(part) {
		Object.assign(wish, { page: 1 }, part);
		const query = wish.filter.trim() ? '?' + new URLSearchParams({ filter: wish.filter }) : '';
		history.replaceState(null, '', location.pathname + query);
		load().then(() => {
			if (data && !trouble) {
				announce(some(data.locks.matching, 'lock', 'locks'));
			}
		});
	}

	function filter(value) {
		$('filter').value = value;
		change({ filter: value });
		window.scrollTo(0, 0);
	}

	let typing = 0;
	$('filter').value = wish.filter;
	$('filter').addEventListener('input', () => {
		clearTimeout(typing);
		typing = setTimeout(() => change({ filter: $('filter').value }), 150);
	});
	for (const choice of document.querySelectorAll('input[name=only]')) {
		choice.addEventListener('change', () => change({ only: choice.value }));
	}
	$('sort').addEventListener('change', () => change({ sort: $('sort').value }));
	$('previous').addEventListener('click', () => change({ page: data.locks.page - 1 }));
	$('next').addEventListener('click', () => change({ page: data.locks.page + 1 }));
	$('clear').addEventListener('click', () => {
		document.querySelector('input[name=only][value=all]').checked = true;
		wish.only = 'all';
		filter('');
		$('filter').focus();
	});
	$('pause').addEventListener('click', () => {
		paused = !paused;
		$('pause').setAttribute('aria-pressed', String(paused));
		text($('pause'), paused ? 'Resume' : 'Pause');
		if (paused) {
			clearTimeout(timer);
			render();
		}
		else {
			load();
		}
	});
	$('r-digits').addEventListener('input', () => dialog(elapsed()));
	$('r-digits').addEventListener('keydown', (e) => {
		if (e.key === 'Enter' && !$('r-go').disabled) {
			release();
		}
	});
	$('r-go').addEventListener('click', release);
	$('r-cancel').addEventListener('click', () => $('release').close());
	$('release').addEventListener('close', () => {
		asked = null;
	});
	document.addEventListener('keydown', (e) => {
		if (e.key === '/' && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName) && !$('release').open) {
			e.preventDefault();
			$('filter').focus();
		}
	});
	document.addEventListener('visibilitychange', () => {
		if (document.hidden) {
			clearTimeout(timer);
		}
		else if (!paused) {
			load();
		}
	});
	setInterval(() => {
		if (!document.hidden && !paused) {
			render();
		}
	}, 1000);
	load();
})();
