// What the page shows of a job with a scripted feed.

import assert from 'node:assert/strict';
import {test} from 'node:test';

import {counts, feed, fresh, show, text, timed, times} from './desk.mjs';
import {barrier, event, job, known, round, scenes, task, update, wait} from './jobs.mjs';

test('the legend counts each state', async () => {
  const page = await show(scenes.states());

  assert.deepEqual(await counts(page), {
    connected: '6',
    waiting: '1',
    missing: '1',
    stalled: '1',
    suspect: '1',
    failed: '1',
    ended: '1',
    joining: '1',
    returning: '1',
    never: '1',
    left: '1',
  });
  assert.equal(await text(page, '#job'), 'train-7b');
  assert.deepEqual(page.violations, []);
});

test('the leader of a job with standbys is named', async () => {
  const scene = scenes.states();
  scene.state.leader = {address: 'a:8476', term: 3, lag_entries: 2, lag_bytes: 90, lag_ms: 1500};
  const page = await show(scene);

  assert.match(await text(page, '#leader'), /^a:8476 · term 3 · lag 2, /);
});

test('a task that left to return shows its deadline', async () => {
  const page = await show(scenes.states());

  await page.locator('#search').fill('7');

  assert.equal(await text(page, '#details .state dd'), 'returning');
  assert.equal(await text(page, '#details .expected-by dd'), '2026-11-23 14:13:07');
});

test('each state has its own shape, independent of color', async () => {
  const page = await show(scenes.states());

  const shapes = await page.locator('#legend canvas').evaluateAll((marks) =>
    marks.map((mark) => {
      const {data} = mark.getContext('2d').getImageData(0, 0, mark.width, mark.height);
      const corner = [...data.slice(4 * 17, 4 * 17 + 3)];
      // The background is the tile's color or another one.
      return Array.from({length: data.length / 4}, (_, at) => {
        if (data[4 * at + 3] < 128) return ' ';
        return corner.some((value, channel) => Math.abs(value - data[4 * at + channel]) > 40)
          ? 'x'
          : 'o';
      }).join('');
    }),
  );

  assert.equal(new Set(shapes).size, 11);
});

test('a change of a task is shown within a second', async () => {
  await feed.control({state: scenes.working()});
  const page = await fresh();
  await timed(page);

  const error = {code: 'ABORTED', message: 'killed'};
  for (const number of [5, 6, 7]) {
    await feed.control({send: update({tasks: [task(number, {state: 'failed', error})]})});
    const failed = page.locator('#legend [data-state="failed"] b');
    await page.waitForFunction((tasks) => window.times.length > tasks, number - 4);
    assert.equal(await failed.innerText(), String(number - 4));
  }

  // The best of three: other programs may have the processor.
  const [, ...took] = await times(page, 4);
  assert.ok(Math.min(...took) < 1000, `${took} ms`);
  assert.equal((await counts(page)).waiting, '195');
});

test('another epoch may have fewer tasks, or more', async () => {
  const page = await show(job(4));
  await page.locator('#search').fill('b000');
  await page.locator('#search').press('Enter');
  await page.locator('#grid').press('End');
  const connected = page.locator('#legend [data-state="connected"] b');

  for (const count of [2, 40, 0, 3]) {
    await feed.control({send: job(count)});
    await page.waitForFunction(
      (wanted) =>
        document.querySelector('#legend [data-state="connected"] b').textContent === wanted,
      String(count),
    );
    await page.mouse.move(640, 400 + count);
    await feed.control({send: update({tasks: []})});
  }

  assert.equal(await connected.innerText(), '3');
  assert.equal(await text(page, '#tasks-count'), '3 on 1 host');
  assert.deepEqual(page.violations, []);
});

test('the banner is the sentence of the coordinator, with evidence', async () => {
  const page = await show(scenes.working());
  const waiting =
    "Waiting for tasks 17,93,140: 197 of 200 have been at barrier 'step' for 12 s " +
    '(times out in 17 s)';
  assert.equal(await text(page, '#verdict-title'), waiting);
  assert.equal(
    await text(page, '#verdict-why'),
    'since 14:16:51 · task 17 (b002:3301, at step 4,177) · ' +
      'task 93 (b011:3305, at step 4,180, suspect) · task 140 (b017:3304, at step 4,179)',
  );
  assert.equal(await page.title(), '⚠ train-7b · Coxswain');
  await page.locator('#verdict-show').click();
  await page.locator('#verdict-show', {hasText: 'Show all again'}).waitFor();

  const {error, headline, state, since, state_tasks} = scenes.failed().state;
  await feed.control({send: update({summary: {error, headline, state, since, state_tasks}})});
  await page.locator('#verdict-title', {hasText: headline}).waitFor();

  assert.match(
    await text(page, '#verdict-why'),
    /^\d+ s ago · task 93 \(b011:3305, at step 4,180, suspect\) · 2 tasks ended with the job$/,
  );
  assert.equal(await text(page, '#verdict-command'), "ssh b011 'dmesg | grep -i oom'");
  assert.equal(await text(page, '#failures-count'), '2 consequences');
  await page.locator('#failures-count').click();
  assert.deepEqual(await page.locator('#failures-list li').allInnerTexts(), [
    'task 93: ABORTED: the process was killed by signal 9 (SIGKILL)',
    'task 17: INTERNAL: exited with status 1',
    'task 40: INTERNAL: exited with status 1',
  ]);
  assert.match(await text(page, '#announcement'), /^Failed at 14:17:03: task 93/);
  assert.equal(await page.title(), '✕ train-7b · Coxswain');
  const size = await page
    .locator('#verdict-title')
    .evaluate((title) => parseFloat(getComputedStyle(title).fontSize));
  assert.ok(size >= 24, `${size} px`);
});

test('the banner has the colour of its state', async () => {
  const page = await show(job(2));
  const levels = {
    running: 'good',
    slow: 'warn',
    waiting: 'warn',
    deadlock: 'warn',
    gathering: 'calm',
    not_started: 'calm',
    failed: 'bad',
    stopped: 'calm',
    over: 'calm',
    draining: 'calm',
  };
  for (const [state, level] of Object.entries(levels)) {
    await feed.control({send: update({summary: {state, headline: `It is ${state}`}})});
    await page.locator('#verdict-title', {hasText: `It is ${state}`}).waitFor();
    assert.equal(await page.locator('#verdict').getAttribute('data-level'), level);
  }
});

test('the banner says what to type next', async () => {
  const page = await show(job(4, {state: 'running'}));
  assert.ok(await page.locator('#verdict-next').isHidden());
  const cause = (message) => ({
    ...{cause: {task: 2, code: 'ABORTED', message}, later: [], later_count: 0},
  });
  const failed = {state: 'failed', state_tasks: '2', headline: 'Failed at 14:17:03: task 2'};

  for (const [summary, command] of [
    [{state: 'waiting', state_tasks: '3'}, 'ssh b000 ps -o stat,etime,args 3303'],
    [{state: 'waiting', state_tasks: '2'}, 'coxswain why --stacks'],
    [{state: 'slow', state_tasks: '2'}, 'ssh b000 top'],
    [{...failed, state_tasks: '1', error: cause('killed by signal 9')}, 'coxswain events'],
    [{...failed, error: cause('killed by signal 9 (SIGKILL)')}, "ssh b000 'dmesg | grep -i oom'"],
    [{...failed, error: cause('exited with status 1')}, 'coxswain events'],
    [{state: 'gathering', error: null}, 'coxswain task --address b12:8476 -- COMMAND'],
    [{state: 'over', state_tasks: ''}, 'coxswain jobs'],
  ]) {
    // A name that the page must not make part of a command.
    const tasks = [task(1, {process: '-oProxyCommand=x;reboot:7'}), task(3, {suspect: true})];
    await feed.control({send: update({summary, tasks})});
    await page.locator('#verdict-command', {hasText: command}).waitFor();
    assert.equal(await text(page, '#verdict-command'), command);
  }

  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.locator('#verdict-copy').click();
  await page.locator('#notice', {hasText: 'The command was copied.'}).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'coxswain jobs');
  await page.context().clearPermissions();
});

test('a long sentence is wrapped, and not cut', async () => {
  const headline = `Deadlock: ${'task 0 waits for task 1, '.repeat(20)}`;
  const page = await show(job(2, {headline, state: 'deadlock'}), {
    viewport: {width: 390, height: 844},
  });
  const isCut = await page
    .locator('#verdict-title')
    .evaluate((title) => title.scrollHeight > title.clientHeight + 1);
  assert.ok(!isCut);
  assert.equal(await page.locator('#verdict-title').textContent(), headline);
});

test('tasks count as missing as soon as the coordinator says so', async () => {
  const page = await show(job(16));
  const missing = async (arrived, age, limit) => {
    const open = barrier({
      ...{arrived, expected: 16, missing: '8-15', age_ms: age, missing_after_ms: limit},
    });
    await feed.control({send: update({barriers: [open]})});
    await page.locator('#waits .amount', {hasText: `${arrived} of 16`}).waitFor();
    return (await counts(page)).missing;
  };

  assert.equal(await missing(8, 0, 2000), undefined);
  assert.equal(await missing(9, 2000, 2000), '8');
  assert.equal(await missing(7, 3000, 10000), undefined);
  assert.equal(await missing(6, 10000, 10000), '8');
});

test('open barriers show the missing tasks, and their ages advance', async () => {
  const message = job(2000, {
    barriers: [barrier({arrived: 1990, expected: 2000, missing: '3,17-24,900', age_ms: 5400})],
  });
  const page = await show(message);

  const line = page.locator('#waits > li');
  assert.equal(await line.locator('.name').innerText(), 'barrier ‘step’ round 418');
  assert.equal(await line.locator('.amount').innerText(), '1,990 of 2,000');
  assert.equal(await line.locator('.missing').innerText(), 'missing: tasks 3,17-24,900');
  const bar = line.getByRole('progressbar', {name: 'Arrived at barrier ‘step’ round 418'});
  assert.equal(await bar.getAttribute('aria-valuenow'), '1990');
  await line.locator('.times', {hasText: 'for 7 s'}).waitFor({timeout: 4000});
  await line.getByRole('button', {name: 'Show tasks 17-24'}).click();
  assert.equal(await text(page, '#search-result'), '8 tasks from 17 to 24');

  await feed.control({send: update()});
  await page.locator('#waits-none').waitFor();
  assert.equal(await line.count(), 0);
});

test('a barrier and the wait at it are one entry, with the newer numbers', async () => {
  const page = await show(
    job(
      4,
      {barriers: [barrier({round: 419, arrived: 2, missing: '2-3'}), barrier({name: 'other'})]},
      {why: {stuck: null, waits: [wait({known: [known(2)]})], more: 0}},
    ),
  );

  assert.deepEqual(await page.locator('#waits .name').allInnerTexts(), [
    'barrier ‘step’ round 419',
    'barrier ‘other’ round 418',
  ]);
  const first = (await text(page, '#waits > li:first-child')).replace(/\s+/g, ' ');
  assert.match(first, /^barrier ‘step’ round 419 2 of 4 missing: tasks 2-3 task 2: connected/);
  assert.match(first, /waiting: tasks 0-1,3 for \d s · times out in 5\d s/);
});

test('the missing are shown in the grid, round after round, until one leaves', async () => {
  const page = await show(job(40, {barriers: [barrier({missing: '7,9-12'})]}));
  const resultShows = (wanted) => page.locator('#search-result', {hasText: wanted}).waitFor();

  await page.locator('#waits .show').click();
  await resultShows('5 tasks missing at barrier ‘step’ round 418');
  assert.equal(await page.locator('#waits .show').getAttribute('aria-pressed'), 'true');
  await feed.control({send: update({barriers: [barrier({missing: '9-12'})]})});
  await resultShows('4 tasks missing at barrier ‘step’ round 418');
  await feed.control({send: update()});
  await resultShows('No round of ‘step’ is open; the next is shown.');
  await feed.control({send: update({barriers: [barrier({round: 419, missing: '30'})]})});
  await resultShows('1 task missing at barrier ‘step’ round 419');

  await page.locator('#waits .show').click();
  await resultShows('Point at a task, or use the arrow keys.');
  await page.locator('#waits .show').click();
  await page.locator('#show-all').click();
  await resultShows('Point at a task, or use the arrow keys.');
  await page.locator('#waits .show').click();
  await page.locator('#grid').focus();
  await page.keyboard.press('Escape');
  await resultShows('Point at a task, or use the arrow keys.');
  assert.equal(await page.locator('#waits .show').getAttribute('aria-pressed'), 'false');
});

test('tasks are grouped by host, each with its state', async () => {
  const page = await show(scenes.working());

  assert.equal(await text(page, '#tasks-count'), '200 on 25 hosts');
  const lines = page.locator('#hosts li');
  assert.equal(await lines.count(), 25);
  const first = (await lines.allInnerTexts()).slice(0, 4).map((one) => one.replace(/\s+/g, ' '));
  assert.deepEqual(first, [
    'b011 8 tasks: 1 suspect, 7 waiting',
    'b002 8 tasks: 1 missing, 7 waiting',
    'b017 8 tasks: 1 missing, 7 waiting',
    'b000 8 tasks: waiting',
  ]);
  const column = () =>
    page.evaluate(() => {
      const width = document.getElementById('grid').clientWidth;
      const hosts = Array.from({length: 25}, (_, host) => ({
        name: `b${host}`,
        tasks: Array.from({length: 8}, (__, place) => 8 * host + place),
      }));
      const layout = layOutHosts(hosts, 200, width, gridHeight(200, innerHeight));
      return layout.blocks.every(({left, top, columns}, host) => {
        const {x, y} = placeOf(layout, 8 * host);
        return x === left && y === top && columns * layout.pitch <= width;
      });
    });
  assert.ok(await column());

  await page.locator('#hosts').getByText('b017').click();
  assert.equal(await text(page, '#search-result'), '8 tasks on b017');
  await feed.control({send: update({tasks: [task(140, {process: 'c1:1'})]})});
  await page.locator('#tasks-count', {hasText: '200 on 26 hosts'}).waitFor();
  await page.locator('#search-result', {hasText: '7 tasks on b017'}).waitFor();
});

test('a host is shown with its relay', async () => {
  const relay = (label, changes = {}) =>
    ({label, peer: '10.0.0.2:9', clients: 8, clients_paused: 0, at_ms: 776000, ...changes});
  const relays = [relay('b017:77', {clients_paused: 1}), relay('elsewhere:5')];
  const page = await show(job(200, {relays, relays_more: 3}));

  assert.equal(await text(page, '#relays'), '5');
  const shown = page.locator('#hosts .relay:not([hidden])');
  assert.equal(await shown.count(), 1);
  assert.equal(
    await shown.innerText(),
    'Relay b017:77: 8 clients, 1 paused, connected for 1 min',
  );
  await feed.control({send: update({relays: [relay('b017:78', {at_ms: 836000})]})});
  await page.locator('#hosts .relay', {hasText: 'Relay b017:78: 8 clients, connected'}).waitFor();
});

test('without shared hosts there are no groups', async () => {
  const tasks = Array.from({length: 4}, (_, number) => task(number, {process: `h${number}:1`}));
  const page = await show(job(4, {tasks}));

  assert.ok(await page.locator('#order').isHidden());
  assert.equal(await page.locator('#hosts li').count(), 4);
});

test('progress is one of the figures', async () => {
  const page = await show(scenes.working());
  const figure = page.locator('#figures div', {hasText: 'Progress'});

  assert.equal(await figure.locator('strong').innerText(), '4,177');
  assert.equal(await figure.locator('span').innerText(), '3 behind (task 17)');
  await feed.control({send: update({tasks: [task(17), task(140)]})});
  await figure.locator('span', {hasText: 'all alike'}).waitFor();
});

test('waits and deadlocks are shown', async () => {
  const page = await show(scenes.stuck());

  assert.equal(
    await text(page, '#verdict-title'),
    'Deadlock: tasks 0-1 are blocked on each other; cancel a round or end a task',
  );
  assert.deepEqual(await page.locator('#verdict-waits li').allInnerTexts(), [
    "task 0 waits at barrier 'a' for task 1",
    "task 1 waits at barrier 'b' for task 0",
  ]);
  assert.equal(await text(page, '#verdict-command'), 'coxswain cancel a');
  assert.equal(await page.locator('#waits > li').count(), 2);
  const first = await text(page, '#waits > li:first-child');
  assert.match(first, /barrier ‘a’ round 1\s+deadlock\s+1 of 2/i);
  assert.match(first, /missing: task 1/);
  assert.match(first, /waits for barrier 'b' round 1/);
  await page.locator('#verdict-waits').getByRole('button', {name: 'Show task 1'}).first().click();
  assert.equal(await text(page, '#details .task dd'), '1');
  assert.match(await text(page, '#details div:nth-child(2)'), /waits for\s+barrier ‘b’ round 1/);

  const why = {
    stuck: null,
    waits: [
      {
        kind: 'get',
        name: 'address/0',
        stuck: false,
        waiting: '',
        waiting_cut: 0,
        others: 2,
        age_ms: 0,
        remaining_ms: null,
      },
    ],
    more: 3,
  };
  await feed.control({send: update({why})});
  await page.locator('#waits > li', {hasText: 'address/0'}).waitFor();
  assert.match(
    await text(page, '#waits'),
    /key ‘address\/0’\s+waiting: 2 callers of no task\s+for 0 s · no limit/,
  );
  assert.equal(await text(page, '#waits-more'), 'and 3 more');
});

test('of a missing task it is shown whether it answers, and its last call', async () => {
  const call = {last_call: "put 'address/5'", last_call_at: '2026-11-23T03:11:50.000+00:00'};
  const waits = [
    wait({
      missing: '2-3',
      known: [
        known(2, {answers: true, unanswered_ms: null, ...call}),
        known(3, {answers: false, unanswered_ms: 12400, last_call: null, last_call_at: null}),
      ],
    }),
  ];
  const page = await show(job(4, {state_tasks: '2-3'}, {why: {stuck: null, waits, more: 0}}));

  const blamed = /task 2 \([^)]*, answers\) · task 3 \([^)]*frozen/;
  assert.match(await text(page, '#verdict-why'), blamed);
  const [answering, silent] = await page.locator('#waits .known li').allInnerTexts();
  assert.match(answering, / · answers · last call: put 'address\/5' at 03:11:50$/);
  assert.match(silent, / · has not answered for 1\d s: frozen, or its machine is gone$/);
});

test('the holders of locks and of items are shown', async () => {
  const held = (kind, name, expected, missing) => ({
    ...{kind, name, stuck: false, waiting: '2', waiting_cut: 0, others: 0, round: 0, arrived: 0},
    ...{expected, missing, missing_cut: 0, known: [], age_ms: 0, remaining_ms: null},
  });
  const waits = [
    held('lock', 'ckpt', 1, 'task 0 (b12-a:1)'),
    held('pop', 'work', 1, 'task 1 (b12-a:2), redelivery 3'),
    held('pop', 'more', 2, 'task 1 (b12-a:2)'),
  ];
  const lease = {queue: 'work', item: 7, holder: 'task 1 (b12-a:2)', redeliveries: 3};
  const leases = [
    {...lease, at_ms: 0, expires_ms: null},
    {...lease, item: 8, redeliveries: 0, at_ms: 0, expires_ms: 1000},
  ];
  const page = await show(
    job(3, {leased_items: 1200, leases}, {why: {stuck: null, waits, more: 0}}),
  );

  const of = (number) => text(page, `#waits > li:nth-child(${number})`);
  assert.match(await of(1), /lock ‘ckpt’[^]*held by task 0 \(b12-a:1\)/);
  assert.match(await of(2), /queue ‘work’[^]*1 leased to task 1 \(b12-a:2\), redelivery 3/);
  assert.match(await of(3), /queue ‘more’[^]*2 leased, the first to task 1/);
  assert.equal(await text(page, '#leases'), '1,200');
  assert.equal(
    await page.locator('#leases').getAttribute('title'),
    'item 7 of queue ‘work’: task 1 (b12-a:2), redelivered 3 times\n' +
      'item 8 of queue ‘work’: task 1 (b12-a:2)',
  );
});

test('the last hosts are named with their lag, and link to their tasks', async () => {
  const page = await show(scenes.slowHost());

  const rows = await page.locator('#stragglers tr').allInnerTexts();
  assert.deepEqual(
    rows.map((row) => row.replace(/\s+/g, ' ')),
    ['b001 tasks 8–15 60× 1.5 s 1.5 s'],
  );
  assert.equal(await text(page, '#stragglers-of'), 'in 60 rounds');
  await page.locator('#stragglers button').click();
  assert.equal(await text(page, '#search-result'), '8 tasks on b001');
});

test('the last tasks are named without shared hosts', async () => {
  const tasks = [0, 1, 2].map((number) =>
    task(number, {process: number < 2 ? `h${number}:1` : ''}),
  );
  const rounds = [
    round(1, {last_task: 1, lag_ms: 31}),
    round(2, {last_task: 1, lag_ms: 1}),
    round(3, {last_task: 2, lag_ms: 0.31}),
    round(4, {last_task: null, lag_ms: 900, outcome: 'INTERNAL'}),
  ];
  const page = await show(job(3, {tasks, rounds}));

  assert.deepEqual(
    (await page.locator('#stragglers tr').allInnerTexts()).map((row) => row.replace(/\s+/g, ' ')),
    ['1 2× 16 ms 31 ms', '2 1× 0.31 ms 0.31 ms'],
  );
  await page.getByRole('button', {name: 'Show task 1', exact: true}).click();
  assert.equal(await text(page, '#details .task dd'), '1');
});

test('the chart reads rounds aloud', async () => {
  const rounds = [
    round(1, {spread_ms: 5}),
    round(2, {spread_ms: 250, lag_ms: 180, last_task: 3}),
    round(3, {spread_ms: 7, outcome: 'DEADLINE_EXCEEDED', last_task: null}),
  ];
  const page = await show(job(4, {rounds}));
  assert.equal(
    await text(page, '#chart-reading'),
    '3 rounds: median 7.0 ms, 99 % within 250 ms, longest 250 ms.',
  );

  await page.locator('#chart').focus();
  await page.keyboard.press('ArrowLeft');
  assert.equal(
    await text(page, '#chart-reading'),
    '‘step’ round 3, DEADLINE_EXCEEDED: 7.0 ms for 4 tasks',
  );
  await page.keyboard.press('ArrowLeft');
  assert.equal(
    await text(page, '#chart-reading'),
    '‘step’ round 2: 250 ms for 4 tasks; task 3 last, 180 ms after the median',
  );

  await feed.control({send: update({rounds: [round(4, {name: 'checkpoint'})]})});
  await page.locator('#rounds-name option', {hasText: 'checkpoint'}).waitFor({state: 'attached'});
  await page.locator('#rounds-name').selectOption('checkpoint');
  assert.match(await text(page, '#chart-reading'), /^1 round:/);
});

test('the steps per minute are shown over time', async () => {
  // One step in 2 s, and no more in the last 28 s.
  const rounds = Array.from({length: 30}, (_, place) =>
    round(place + 1, {at_ms: 750000 + 2000 * place}),
  );
  rounds.push(round(31, {name: 'checkpoint', at_ms: 800000}));
  const page = await show(job(4, {rounds, uptime_ms: 836000}, {events: [event(1, 'one')]}));

  assert.match(
    await text(page, '#pace-reading'),
    /^No step for 2[89] s; 30 per minute in the median \(rounds of ‘step’\)\.$/,
  );
  await page.locator('#pace').focus();
  await page.keyboard.press('ArrowLeft');
  assert.match(await text(page, '#pace-reading'), /^14:1\d:\d\d: 0 steps per minute$/);
  for (let press = 0; press < 40; ++press) await page.keyboard.press('ArrowLeft');
  assert.match(await text(page, '#pace-reading'), /^14:1\d:\d\d: 30 steps per minute$/);

  await feed.control({send: update({rounds: [round(32, {at_ms: 836500})]})});
  await page.keyboard.press('Escape');
  await page.locator('#pace-reading', {hasText: /^Now 30 steps per minute; /}).waitFor();
});

test('without rounds the steps are those that the slowest task has reported', async () => {
  const page = await show(job(2, {rounds: [], uptime_ms: 10000}));
  assert.equal(await text(page, '#pace-reading'), 'Too few steps have finished yet.');

  for (let minute = 1; minute <= 3; ++minute) {
    const tasks = [task(0, {step: 4180 + 6 * minute}), task(1, {step: 4180 + 7 * minute})];
    const summary = {uptime_ms: 10000 + 60000 * minute};
    await feed.control({send: update({summary, tasks})});
    await page.locator('#figures strong', {hasText: `${4180 + 6 * minute}`.slice(1)}).waitFor();
  }

  const reading = 'Now 6 steps per minute; 6 per minute in the median (reported steps).';
  assert.equal(await text(page, '#pace-reading'), reading);
});

test('with a different name for each round there is no choice of names', async () => {
  const rounds = Array.from({length: 60}, (_, place) => round(place + 1, {name: `ckpt-${place}`}));
  const page = await show(job(4, {rounds}));

  assert.match(await text(page, '#chart-reading'), /^60 rounds:/);
  assert.ok(await page.locator('#rounds-name').isHidden());
});

test('a line for many merged events replaces theirs and shows their number', async () => {
  const lost = (number, changes) =>
    event(number, `task ${number} failed`, {severity: 'error', first: 2, ...changes});
  const later = {task: 1, code: 'UNAVAILABLE', message: 'gone'};
  const page = await show(
    job(
      4,
      {error: {cause: {...later, task: 0}, later: [later], later_count: 9999}},
      {events: [event(1, 'one'), lost(2), lost(3)]},
    ),
  );
  assert.equal(await text(page, '#failures-count'), '9,999 consequences, the first 1');
  await feed.control({send: update({events: [lost(10001, {count: 10000, tasks: '0-9999'})]})});
  const lines = page.locator('#events .text');
  await lines.filter({hasText: 'like this'}).waitFor();
  assert.deepEqual(await lines.allTextContents(), [
    'task 10001 failed [10,000 like this, of tasks 0-9999]',
    'one',
  ]);
  assert.match(await page.locator('#events time').first().innerText(), /^\d\d:\d\d:\d\d\.\d{3}$/);
});

test('events are listed newest first, and filtered', async () => {
  const page = await show(
    job(4, {}, {events: [event(1, 'one'), event(2, 'two', {severity: 'warning', task: 2})]}),
  );
  await feed.control({
    send: update({events: [event(2, 'two'), event(3, 'three', {severity: 'error'})]}),
  });

  const lines = page.locator('#events .text');
  await lines.nth(2).waitFor();
  assert.deepEqual(await lines.allInnerTexts(), ['three', 'two', 'one']);
  await page.locator('#severity').selectOption('warning');
  assert.deepEqual(await lines.allInnerTexts(), ['three', 'two']);
  await page.locator('#events-text').fill('TWO');
  assert.deepEqual(await lines.allInnerTexts(), ['two']);
  assert.equal(await text(page, '#events-count'), '1 of 3');
  await page.locator('#events-text').fill('no such thing');
  await page.locator('#events-none').waitFor();
});

test('untrusted texts are shown as text', async () => {
  const markup = '<img src=x onerror="window.hurt = 1"><script>window.hurt = 1</script>';
  const message = job(
    4,
    {
      job: markup,
      barriers: [barrier({name: markup})],
      rounds: [round(1, {name: markup}), round(2)],
      error: {
        cause: {task: 1, code: 'ABORTED', message: markup},
        later: [{task: 2, code: 'INTERNAL', message: markup}],
        later_count: 1,
      },
    },
    {events: [event(1, markup, {severity: 'error'})]},
  );
  Object.assign(message.state.tasks[1], {
    process: markup,
    peer: markup,
    state: 'failed',
    error: {code: 'ABORTED', message: markup},
  });
  message.why = {
    stuck: markup,
    waits: [
      wait({name: markup, known: [known(2, {process: markup, waits_for: `key '${markup}'`})]}),
    ],
    more: 0,
  };
  const keys = [{key: markup, version: 1, bytes: markup.length}];
  await feed.control({
    answer: {
      'keys?prefix=&limit=100': [200, {keys, version: 1, more: false}],
      [`keys/${encodeURIComponent(markup)}`]: [200, {...keys[0], value: markup}],
    },
  });
  const page = await show(message);

  await page.locator('#keys button').click();
  await page.locator('#keys-value-facts', {hasText: 'version 1'}).waitFor();
  assert.equal(await text(page, '#keys-value-text'), markup);
  await page.locator('#failures-count').click();
  assert.ok((await text(page, '#failures-list')).includes(markup));
  await page.locator('#grid').focus();
  await page.keyboard.press('End');
  assert.equal(await text(page, '#job'), markup);
  assert.equal(await text(page, '#details .process dd'), markup);
  assert.equal(await text(page, '#events .text'), markup);
  assert.ok((await text(page, '#waits')).includes(`key '${markup}'`));
  assert.equal(await page.evaluate(() => window.hurt), undefined);
  assert.equal(await page.locator('img').count(), 0);
  assert.deepEqual(page.violations, []);
});

test('an empty job says so', async () => {
  const page = await show(scenes.empty());

  assert.equal(await text(page, '#search-result'), 'No task has connected yet.');
  assert.equal((await counts(page)).never, '16');
  for (const none of ['waits', 'stragglers', 'hosts', 'keys', 'events']) {
    await page.locator(`#${none}-none`).waitFor(); // the keys have a separate reply
  }
});
