// The page in a browser, with a feed that says what the test wants.

import assert from 'node:assert/strict';
import {after, afterEach, before, beforeEach, test} from 'node:test';

import {barrier, event, job, known, round, scenes, task, update, wait} from './jobs.mjs';
import {Feed, launch, live, open} from './page.mjs';

let browser;
let feed;
let pages;

before(async () => {
  browser = await launch();
});
after(() => browser.close());

beforeEach(async () => {
  feed = await Feed.start();
  pages = [];
});
afterEach(async () => {
  for (const page of pages) await page.context().close();
  await feed.end();
});

// A page that shows what a job is like, at first.
async function show(message, options) {
  await feed.tell({state: message});
  const page = await visit(options);
  await live(page);
  return page;
}

async function visit(options) {
  const page = await open(browser, feed.url, options);
  pages.push(page);
  return page;
}

// What the legend says of each state.
function counts(page) {
  return page.locator('#legend button').evaluateAll((buttons) =>
    Object.fromEntries(buttons.map((button) => [button.dataset.state, button.querySelector('b').textContent])));
}

function text(page, selector) {
  return page.locator(selector).innerText();
}

// How light the text is against what is behind it, by WCAG; translucent backgrounds do not occur.
function contrasts(page, selectors) {
  return page.evaluate((wanted) => {
    const channels = (colour) => {
      const context = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
      return [...context.getImageData(0, 0, 1, 1).data];
    };
    const luminance = (colour) => {
      const [red, green, blue] = channels(colour).slice(0, 3).map((value) => {
        const share = value / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const behind = (element) => {
      const colour = getComputedStyle(element).backgroundColor;
      return channels(colour)[3] === 0 && element.parentElement ? behind(element.parentElement) : colour;
    };
    return wanted.map((selector) => {
      const element = document.querySelector(selector);
      const [one, other] = [getComputedStyle(element).color, behind(element)].map(luminance);
      return [selector, (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)];
    });
  }, selectors);
}

test('the legend counts each state', async () => {
  const page = await show(scenes.states());

  assert.deepEqual(await counts(page), {
    connected: '8', waiting: '1', connecting: '1', never: '1', suspect: '1', failed: '1', left: '1',
  });
  assert.equal(await text(page, '#job'), 'train-7b');
  assert.deepEqual(page.complaints, []);
});

test('each state has a shape of its own, without colours', async () => {
  const page = await show(scenes.states());

  const shapes = await page.locator('#legend canvas').evaluateAll((marks) => marks.map((mark) => {
    const {data} = mark.getContext('2d').getImageData(0, 0, mark.width, mark.height);
    const corner = [...data.slice(4 * 17, 4 * 17 + 3)];
    // Where there is nothing, the tile's colour, or another.
    return Array.from({length: data.length / 4}, (_, at) => {
      if (data[4 * at + 3] < 128) return ' ';
      return corner.some((value, channel) => Math.abs(value - data[4 * at + channel]) > 40) ? 'x' : 'o';
    }).join('');
  }));

  assert.equal(new Set(shapes).size, 7);
});

test('a change of a task is shown within a second', async () => {
  const page = await show(scenes.working());

  const start = performance.now();
  await feed.tell({send: update({tasks: [task(5, {state: 'failed', error: {code: 'ABORTED', message: 'killed'}})]})});
  await page.locator('#legend [data-state="failed"] b', {hasText: /^1$/}).waitFor({timeout: 1000});

  assert.ok(performance.now() - start < 1000);
  assert.equal((await counts(page)).waiting, '197');
});

test('the cause of failure is the headline', async () => {
  const page = await show(scenes.working());
  assert.ok(await page.locator('#failure').isHidden());

  const {error} = scenes.failed().state;
  await feed.tell({send: update({summary: {error}})});
  await page.locator('#failure').waitFor({timeout: 1000});

  assert.equal(await text(page, '#failure-title'), 'Task 93 failed');
  assert.match(await text(page, '#failure-why'), /b011:3305 · ABORTED: .*signal 9/);
  assert.equal(await text(page, '#failure-later-count'), '2 later failures');
  assert.equal(await page.title(), '✕ train-7b · Coxswain');
  const size = await page.locator('#failure-title').evaluate((title) => parseFloat(getComputedStyle(title).fontSize));
  assert.ok(size >= 24, `${size} px`);
});

test('a failure that is nobody’s is the job’s', async () => {
  const error = {cause: {task: null, code: 'CANCELLED', message: 'by the operator'}, later: []};
  const page = await show(job(2, {error}));

  assert.equal(await text(page, '#failure-title'), 'The job has failed');
  assert.ok(await page.locator('#failure-later').isHidden());
});

test('open barriers show who is missing, and their ages count on', async () => {
  const message = job(2000, {barriers: [barrier({arrived: 1990, expected: 2000, missing: '3,17-24,900', age_ms: 5400})]});
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

  const why = {stuck: null, waits: [{kind: 'get', name: 'address/0', stuck: false, waiting: '', waiting_cut: 0, others: 2, age_ms: 0, remaining_ms: null}], more: 3};
  await feed.tell({send: update({why})});
  await page.locator('#stuck').waitFor({state: 'hidden'});
  assert.match(await text(page, '#waits'), /key ‘address\/0’\s+2 callers of no task\s+for 0 s · no limit/);
  assert.equal(await text(page, '#waits-more'), 'and 3 more');
});

test('stragglers are named, and lead to their task', async () => {
  const stragglers = [
    {task: 3, times_last: 12, margin_ms_mean: 4.2, margin_ms_max: 31, of: 40},
    {task: 1, times_last: 2, margin_ms_mean: 0.31, margin_ms_max: 0.4, of: 40},
  ];
  const page = await show(job(4, {stragglers, rounds: [round(1)]}));

  assert.deepEqual(await page.locator('#stragglers tr').allInnerTexts(), [
    '3\t12×\t4.2 ms\t31 ms', '1\t2×\t0.31 ms\t0.40 ms',
  ]);
  await page.getByRole('button', {name: 'Show task 3'}).click();
  assert.equal(await text(page, '#details .task strong'), '3');
});

test('the chart reads rounds aloud', async () => {
  const rounds = [round(1, {spread_ms: 5}), round(2, {spread_ms: 250, margin_ms: 180, last_task: 3}),
    round(3, {spread_ms: 7, outcome: 'DEADLINE_EXCEEDED', last_task: null})];
  const page = await show(job(4, {rounds}));
  assert.equal(await text(page, '#chart-reading'), '3 rounds: median 7.0 ms, 99 % within 250 ms, longest 250 ms.');

  await page.locator('#chart').focus();
  await page.keyboard.press('ArrowLeft');
  assert.match(await text(page, '#chart-reading'), /^‘step’ round 3, DEADLINE_EXCEEDED: 7.0 ms for 4 tasks$/);
  await page.keyboard.press('ArrowLeft');
  assert.equal(await text(page, '#chart-reading'),
      '‘step’ round 2: 250 ms for 4 tasks; task 3 last, 180 ms after the one before');

  await feed.tell({send: update({rounds: [round(4, {name: 'checkpoint'})]})});
  await page.locator('#rounds-name option', {hasText: 'checkpoint'}).waitFor({state: 'attached'});
  await page.locator('#rounds-name').selectOption('checkpoint');
  assert.match(await text(page, '#chart-reading'), /^1 round:/);
});

test('events are listed newest first, and filtered', async () => {
  const page = await show(job(4, {}, {events: [event(1, 'one'), event(2, 'two', {severity: 'warning', task: 2})]}));
  await feed.tell({send: update({events: [event(2, 'two'), event(3, 'three', {severity: 'error'})]})});

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

test('everything can be reached and done with the keyboard', async () => {
  const page = await show(scenes.working());
  const selected = () => text(page, '#details .task strong');

  await page.keyboard.press('/');
  await page.keyboard.type('b011:3305');
  assert.equal(await selected(), '93');
  assert.equal(await text(page, '#search-result'), '1 match');

  await page.locator('#grid').focus();
  await page.keyboard.press('ArrowRight');
  assert.equal(await selected(), '94');
  await page.keyboard.press('ArrowUp');
  assert.equal(await selected(), '74');
  await page.keyboard.press('End');
  assert.equal(await selected(), '199');
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowLeft');
  assert.equal(await selected(), '0');
  await page.keyboard.press('Escape');
  assert.match(await text(page, '#details'), /Point at a task/);

  const reached = new Set();
  await page.evaluate(() => document.activeElement.blur());
  for (let presses = 0; presses < 60; ++presses) {
    await page.keyboard.press('Tab');
    reached.add(await page.evaluate(() => document.activeElement.id || document.activeElement.dataset.state));
  }
  for (const id of ['theme', 'search', 'failed', 'grid', 'rounds-name', 'chart', 'severity', 'events-text', 'events']) {
    assert.ok(reached.has(id), `${id} of ${[...reached]}`);
  }
});

test('a host is searched for, and Enter goes on to the next', async () => {
  const page = await show(scenes.working());

  await page.locator('#search').fill('B002:');
  assert.equal(await text(page, '#search-result'), '8 matches');
  assert.equal(await text(page, '#details .task strong'), '16');
  await page.locator('#search').press('Enter');
  assert.equal(await text(page, '#details .task strong'), '17');
  assert.equal(await text(page, '#details .waits-for strong'), 'key ‘address/0’');
});

test('pointing at a task shows it, and the selection comes back', async () => {
  const page = await show(scenes.working());
  const at = (number) => page.evaluate((wanted) => {
    const layout = layOut(200, document.getElementById('grid').clientWidth, Math.min(480, innerHeight * 0.6));
    const {x, y} = placeOf(layout, wanted);
    return {x: x + layout.size / 2, y: y + layout.size / 2};
  }, number);

  await page.locator('#grid-canvas').click({position: await at(17)});
  await page.locator('#grid-canvas').hover({position: await at(93)});
  assert.equal(await text(page, '#details .task strong'), '93');
  assert.match(await text(page, '#details .state'), /suspect: its connection was lost/);
  await page.mouse.move(5, 5);
  assert.equal(await text(page, '#details .task strong'), '17');
});

test('a state of the legend can be shown alone', async () => {
  const page = await show(scenes.working());
  const button = page.locator('#legend [data-state="suspect"]');

  await button.click();
  assert.equal(await button.getAttribute('aria-pressed'), 'true');
  await button.click();
  assert.equal(await button.getAttribute('aria-pressed'), 'false');
});

const READABLE = [
  '#job', '.facts dt', '#link', '#theme', '#failure-title', '#failure-why', '#failure-later-count', '.figures dt',
  '.figures strong', '.figures span', '.count', '#search', '#legend button', '#legend .empty', '#details',
  '#waits .times', '#waits .missing', '#waits .badge', '.task-link', 'thead th', '#chart-reading',
  '#events time', '#events .severity', '#events .warning .severity', '#events .error .severity',
];

for (const colorScheme of ['light', 'dark']) {
  test(`all text can be read in ${colorScheme} (WCAG AA)`, async () => {
    const message = scenes.failed();
    message.why = scenes.stuck().why;
    const page = await show(message, {colorScheme});

    for (const [selector, ratio] of await contrasts(page, [...READABLE, '#stuck h2', '#stuck-why'])) {
      assert.ok(ratio >= 4.5, `${selector}: ${ratio.toFixed(2)}`);
    }
    const marks = ['connected', 'waiting', 'connecting', 'never', 'suspect', 'failed', 'left'];
    const pale = await page.evaluate((names) => {
      const probe = document.body.appendChild(document.createElement('p'));
      probe.style.background = 'var(--surface)';
      for (const name of names) {
        const child = probe.appendChild(document.createElement('i'));
        child.id = `probe-${name}`;
        child.style.color = `var(--${name})`;
      }
    }, marks);
    assert.equal(pale, undefined);
    for (const [selector, ratio] of await contrasts(page, marks.map((name) => `#probe-${name}`))) {
      assert.ok(ratio >= 3, `${selector}: ${ratio.toFixed(2)}`);
    }
  });
}

test('the theme is switched, and kept', async () => {
  const page = await show(scenes.four(), {colorScheme: 'light'});
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();

  await page.locator('#theme').click();
  assert.equal(await text(page, '#theme'), 'Light');
  assert.equal(await background(), light);
  await page.locator('#theme').click();
  assert.equal(await text(page, '#theme'), 'Dark');
  assert.notEqual(await background(), light);

  await page.reload();
  await live(page);
  assert.equal(await text(page, '#theme'), 'Dark');
});

test('a phone needs no horizontal scrolling, whatever there is', async () => {
  const message = scenes.failed();
  Object.assign(message.why, scenes.stuck().why);
  message.state.job = 'a-job-whose-name-is-longer-than-any-screen-of-a-phone-is-wide-'.repeat(3);
  message.state.barriers = [barrier({name: 'epoch/'.repeat(60), missing: '1,3,5,7,9,11-13,'.repeat(40) + '99'})];
  message.events.push(event(9, 'x'.repeat(600), {task: 199}));
  const page = await show(message, {viewport: {width: 360, height: 740}, isMobile: true, hasTouch: true});

  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.equal(width, 360);
  await page.locator('#grid-canvas').tap({position: {x: 60, y: 10}});
  assert.match(await text(page, '#details .task strong'), /^\d+$/);
});

test('ten thousand tasks are drawn within a second, and updated without jank', async () => {
  await feed.tell({state: scenes.large()});
  const page = await visit();
  await live(page);

  const drawn = await page.evaluate(async () => {
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    return performance.now();
  });
  console.log(`drawn ${Math.round(drawn)} ms after the page was asked for`);
  assert.ok(drawn < 1000, `${drawn} ms`);
  assert.equal((await counts(page)).waiting, '6,210');

  // How long the browser is held up, while half a thousand tasks change at a time.
  await page.evaluate(() => {
    window.held = [];
    new PerformanceObserver((list) => window.held.push(...list.getEntries().map((entry) => entry.duration)))
        .observe({entryTypes: ['longtask']});
  });
  for (let batch = 0; batch < 10; ++batch) {
    const tasks = Array.from({length: 500}, (_, at) => task(batch * 500 + at, {suspect: true}));
    await feed.tell({send: update({tasks})});
    await page.locator('#legend [data-state="suspect"] b', {hasText: new RegExp(`^${(batch * 500 + 500).toLocaleString('en-GB')}$`)}).waitFor();
  }
  const held = Math.max(0, ...await page.evaluate(() => window.held));
  console.log(`held up for ${Math.round(held)} ms at most`);
  assert.ok(held < 200, `${held} ms`);
});

test('one failed task of ten thousand is found', async () => {
  const page = await show(scenes.large());

  await page.locator('#search').fill('7342');

  assert.equal(await text(page, '#details .task strong'), '7342');
  assert.match(await text(page, '#details .error'), /UNAVAILABLE: its connection was lost/);
});

test('the page connects again when the coordinator is back', async () => {
  const page = await show(scenes.four());

  await feed.tell({stop: true});
  await page.locator('#link[data-state="waiting"]').waitFor();
  assert.match(await text(page, '#link-text'), /reconnecting in \d+ s/);
  assert.ok(await page.locator('#reconnect').isVisible());
  const age = await text(page, '#barriers .times');

  const other = job(3, {job: 'next', coordinator: '0000000000000002', rounds: []});
  await feed.tell({state: other});
  await feed.tell({start: true});
  await live(page);

  assert.equal(await text(page, '#job'), 'next');
  assert.equal(await text(page, '#tasks-count'), '3');
  assert.equal(await text(page, '#chart-reading'), 'No round has finished yet.');
  assert.match(age, /^for /);
});

test('later tries are further apart, and one can be made at once', async () => {
  const page = await show(scenes.four());
  await feed.tell({stop: true});

  await page.locator('#link-text', {hasText: /in [2-9] s/}).waitFor({timeout: 10000});
  await feed.tell({start: true});
  await page.locator('#reconnect').click();

  await page.locator('#link[data-state="live"]').waitFor({timeout: 1000});
});

test('a locked job asks for its token', async () => {
  await feed.tell({token: 'open sesame'});
  await feed.tell({state: scenes.four()});
  const page = await visit();
  await page.locator('#login[open]').waitFor();

  await page.locator('#token').fill('wrong');
  await page.keyboard.press('Enter');
  await page.locator('#login-refused', {hasText: 'This is no token of the job.'}).waitFor();
  await page.locator('#token').fill('open sesame');
  await page.keyboard.press('Enter');
  await live(page);

  assert.ok(await page.locator('#login').isHidden());
  assert.equal(await text(page, '#tasks-count'), '4');
});

test('texts of strangers are shown as text', async () => {
  const markup = '<img src=x onerror="window.hurt = 1"><script>window.hurt = 1</script>';
  const message = job(4, {
    job: markup, barriers: [barrier({name: markup})], rounds: [round(1, {name: markup}), round(2)],
    error: {cause: {task: 1, code: 'ABORTED', message: markup}, later: [{task: 2, code: 'INTERNAL', message: markup}]},
  }, {events: [event(1, markup, {severity: 'error'})]});
  Object.assign(message.state.tasks[1], {process: markup, peer: markup, state: 'failed', error: {code: 'ABORTED', message: markup}});
  message.why = {stuck: markup, waits: [wait({name: markup, known: [known(2, {process: markup, waits_for: `key '${markup}'`})]})], more: 0};
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

test('nothing is taken from elsewhere, and nothing moves for who wants calm', async () => {
  const asked = [];
  await feed.tell({state: scenes.four()});
  const context = await browser.newContext({reducedMotion: 'reduce'});
  const page = await context.newPage();
  pages.push(page);
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(feed.url);
  await live(page);

  assert.deepEqual(asked.filter((url) => !url.startsWith('data:')), [feed.url]);
  const moving = await page.evaluate(() => [...document.querySelectorAll('*')].filter((element) =>
    getComputedStyle(element).transitionDuration !== '0s' || getComputedStyle(element).animationName !== 'none').length);
  assert.equal(moving, 0);
});

test('an empty job says so', async () => {
  const page = await show(scenes.empty());

  assert.equal(await text(page, '#details'), 'No task has connected yet.');
  assert.equal((await counts(page)).never, '16');
  for (const none of ['barriers', 'waits', 'stragglers', 'events']) {
    assert.ok(await page.locator(`#${none}-none`).isVisible(), none);
  }
});
