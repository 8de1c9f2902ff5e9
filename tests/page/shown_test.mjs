// What the page shows of a job, when a feed says what the test wants.

import assert from 'node:assert/strict';
import {test} from 'node:test';

import {counts, feed, fresh, show, text, timed, times} from './desk.mjs';
import {barrier, event, job, known, round, scenes, task, update, wait} from './jobs.mjs';

test('the legend counts each state', async () => {
  const page = await show(scenes.states());

  assert.deepEqual(await counts(page), {
    connected: '8',
    waiting: '1',
    connecting: '1',
    never: '1',
    suspect: '1',
    failed: '1',
    left: '1',
  });
  assert.equal(await text(page, '#job'), 'train-7b');
  assert.deepEqual(page.complaints, []);
});

test('each state has a shape of its own, without colours', async () => {
  const page = await show(scenes.states());

  const shapes = await page.locator('#legend canvas').evaluateAll((marks) =>
    marks.map((mark) => {
      const {data} = mark.getContext('2d').getImageData(0, 0, mark.width, mark.height);
      const corner = [...data.slice(4 * 17, 4 * 17 + 3)];
      // Where there is nothing, the tile's colour, or another.
      return Array.from({length: data.length / 4}, (_, at) => {
        if (data[4 * at + 3] < 128) return ' ';
        return corner.some((value, channel) => Math.abs(value - data[4 * at + channel]) > 40)
          ? 'x'
          : 'o';
      }).join('');
    }),
  );

  assert.equal(new Set(shapes).size, 7);
});

test('a change of a task is shown within a second', async () => {
  await feed.tell({state: scenes.working()});
  const page = await fresh();
  await timed(page);

  const error = {code: 'ABORTED', message: 'killed'};
  for (const number of [5, 6, 7]) {
    await feed.tell({send: update({tasks: [task(number, {state: 'failed', error})]})});
    const failed = page.locator('#legend [data-state="failed"] b');
    await page.waitForFunction((tasks) => window.times.length > tasks, number - 4);
    assert.equal(await failed.innerText(), String(number - 4));
  }

  // The best of three: other programs may have the processor.
  const [, ...took] = await times(page, 4);
  assert.ok(Math.min(...took) < 1000, `${took} ms`);
  assert.equal((await counts(page)).waiting, '195');
});

test('the cause of failure is the headline', async () => {
  const page = await show(scenes.working());
  assert.ok(await page.locator('#failure').isHidden());

  const {error} = scenes.failed().state;
  await feed.tell({send: update({summary: {error}})});
  await page.locator('#failure').waitFor();

  assert.equal(await text(page, '#failure-title'), 'Task 93 failed');
  assert.match(await text(page, '#failure-why'), /b011:3305 · ABORTED: .*signal 9/);
  assert.equal(await text(page, '#failure-later-count'), '2 later failures');
  assert.equal(await page.title(), '✕ train-7b · Coxswain');
  const size = await page
    .locator('#failure-title')
    .evaluate((title) => parseFloat(getComputedStyle(title).fontSize));
  assert.ok(size >= 24, `${size} px`);
});

test('a failure that is nobody’s is the job’s', async () => {
  const error = {cause: {task: null, code: 'CANCELLED', message: 'by the operator'}, later: []};
  const page = await show(job(2, {error}));

  assert.equal(await text(page, '#failure-title'), 'The job has failed');
  assert.ok(await page.locator('#failure-later').isHidden());
});

test('open barriers show who is missing, and their ages count on', async () => {
  const message = job(2000, {
    barriers: [barrier({arrived: 1990, expected: 2000, missing: '3,17-24,900', age_ms: 5400})],
  });
  const page = await show(message);

  const line = page.locator('#barriers li');
  assert.equal(await line.locator('.amount').innerText(), '1,990 / 2,000');
  assert.equal(await line.locator('.missing').innerText(), 'missing 3, 17–24, 900');
  const bar = line.getByRole('progressbar', {name: 'Arrived at step · round 418'});
  assert.equal(await bar.getAttribute('aria-valuenow'), '1990');
  await line.locator('.times', {hasText: 'for 7 s'}).waitFor({timeout: 4000});

  await feed.tell({send: update()});
  await page.locator('#barriers-none').waitFor();
  assert.equal(await line.count(), 0);
});

test('the missing are shown in the grid', async () => {
  const page = await show(job(40, {barriers: [barrier({missing: '7,9-12'})]}));

  await page.getByRole('button', {name: 'Show the missing'}).click();

  assert.equal(await text(page, '#details .task strong'), '7');
});

test('who waits for what, and that some are stuck, is said', async () => {
  const page = await show(scenes.stuck());

  assert.match(await text(page, '#stuck'), /tasks 0-1 wait for each other and can never go on/);
  assert.equal(await page.locator('#waits > li').count(), 2);
  const first = await text(page, '#waits > li:first-child');
  assert.match(first, /barrier ‘a’ round 1\s+stuck/i);
  assert.match(first, /missing 1 of 2: 1/);
  assert.match(first, /waits for barrier 'b' round 1/);

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
  await feed.tell({send: update({why})});
  await page.locator('#stuck').waitFor({state: 'hidden'});
  assert.match(
    await text(page, '#waits'),
    /key ‘address\/0’\s+2 callers of no task\s+for 0 s · no limit/,
  );
  assert.equal(await text(page, '#waits-more'), 'and 3 more');
});

test('stragglers are named, and lead to their task', async () => {
  const stragglers = [
    {task: 3, times_last: 12, margin_ms_mean: 4.2, margin_ms_max: 31, of: 40},
    {task: 1, times_last: 2, margin_ms_mean: 0.31, margin_ms_max: 0.4, of: 40},
  ];
  const page = await show(job(4, {stragglers, rounds: [round(1)]}));

  assert.deepEqual(await page.locator('#stragglers tr').allInnerTexts(), [
    '3\t12×\t4.2 ms\t31 ms',
    '1\t2×\t0.31 ms\t0.40 ms',
  ]);
  await page.getByRole('button', {name: 'Show task 3'}).click();
  assert.equal(await text(page, '#details .task strong'), '3');
});

test('the chart reads rounds aloud', async () => {
  const rounds = [
    round(1, {spread_ms: 5}),
    round(2, {spread_ms: 250, margin_ms: 180, last_task: 3}),
    round(3, {spread_ms: 7, outcome: 'DEADLINE_EXCEEDED', last_task: null}),
  ];
  const page = await show(job(4, {rounds}));
  assert.equal(
    await text(page, '#chart-reading'),
    '3 rounds: median 7.0 ms, 99 % within 250 ms, longest 250 ms.',
  );

  await page.locator('#chart').focus();
  await page.keyboard.press('ArrowLeft');
  assert.match(
    await text(page, '#chart-reading'),
    /^‘step’ round 3, DEADLINE_EXCEEDED: 7.0 ms for 4 tasks$/,
  );
  await page.keyboard.press('ArrowLeft');
  assert.equal(
    await text(page, '#chart-reading'),
    '‘step’ round 2: 250 ms for 4 tasks; task 3 last, 180 ms after the one before',
  );

  await feed.tell({send: update({rounds: [round(4, {name: 'checkpoint'})]})});
  await page.locator('#rounds-name option', {hasText: 'checkpoint'}).waitFor({state: 'attached'});
  await page.locator('#rounds-name').selectOption('checkpoint');
  assert.match(await text(page, '#chart-reading'), /^1 round:/);
});

test('where each round has a name of its own there is no choice of names', async () => {
  const rounds = Array.from({length: 60}, (_, place) => round(place + 1, {name: `ckpt-${place}`}));
  const page = await show(job(4, {rounds}));

  assert.match(await text(page, '#chart-reading'), /^60 rounds:/);
  assert.ok(await page.locator('#rounds-name').isHidden());
});

test('events are listed newest first, and filtered', async () => {
  const page = await show(
    job(4, {}, {events: [event(1, 'one'), event(2, 'two', {severity: 'warning', task: 2})]}),
  );
  await feed.tell({
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

test('texts of strangers are shown as text', async () => {
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
  const page = await show(message);

  await page.locator('#grid').focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  assert.equal(await text(page, '#job'), markup);
  assert.equal(await text(page, '#stuck-why'), markup);
  assert.equal(await text(page, '#details .process strong'), markup);
  assert.equal(await text(page, '#events .text'), markup);
  assert.ok((await text(page, '#waits')).includes(`key '${markup}'`));
  assert.equal(await page.evaluate(() => window.hurt), undefined);
  assert.equal(await page.locator('img').count(), 0);
  assert.deepEqual(page.complaints, []);
});

test('an empty job says so', async () => {
  const page = await show(scenes.empty());

  assert.equal(await text(page, '#details'), 'No task has connected yet.');
  assert.equal((await counts(page)).never, '16');
  for (const none of ['barriers', 'waits', 'stragglers', 'events']) {
    assert.ok(await page.locator(`#${none}-none`).isVisible(), none);
  }
});
