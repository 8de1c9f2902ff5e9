// Use of the page: by keyboard, by touch, in dark mode, over a bad connection, with many tasks.

import assert from 'node:assert/strict';
import {test} from 'node:test';

import {clockOf, counts, feed, fresh, show, text, visit} from './desk.mjs';
import {answers, barrier, event, job, known, round, scenes, task, update, wait} from './jobs.mjs';
import {axe, live} from './page.mjs';

const AS_OPERATOR = {role: [200, {role: 'operator'}]};

test('everything can be reached and done with the keyboard', async () => {
  await feed.control({answer: AS_OPERATOR});
  const page = await show(scenes.working());
  const selected = () => text(page, '#details .task dd');

  await page.keyboard.press('/');
  await page.keyboard.type('b011:3305');
  assert.equal(await selected(), '93');
  assert.equal(await text(page, '#search-result'), '1 task found by ‘b011:3305’');

  await page.locator('#grid').focus();
  await page.keyboard.press('ArrowRight');
  assert.equal(await selected(), '94');
  assert.equal(await text(page, '#announcement'), 'Task 94, waiting');
  await page.keyboard.press('ArrowUp');
  assert.equal(await selected(), '92');
  await page.keyboard.press('ArrowDown');
  assert.equal(await selected(), '94');
  await page.keyboard.press('End');
  assert.equal(await selected(), '199');
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowLeft');
  assert.equal(await selected(), '0');
  await page.keyboard.press('Escape');
  assert.ok(await page.locator('#card').isHidden());

  const reached = new Set();
  await page.locator('#grid-canvas').click({position: {x: 10, y: 30}});
  await page.evaluate(() => document.activeElement.blur());
  for (let presses = 0; presses < 120; ++presses) {
    await page.keyboard.press('Tab');
    const [name, outline] = await page.evaluate(() => {
      const {id, dataset} = document.activeElement;
      return [
        id || dataset.state || document.activeElement.getAttribute('aria-labelledby'),
        getComputedStyle(document.activeElement).outlineStyle,
      ];
    });
    const isOnPage = await page.evaluate(() => document.activeElement !== document.body);
    if (isOnPage) assert.notEqual(outline, 'none', `${name} shows its focus`);
    reached.add(name);
  }
  for (const id of [
    'menu-button',
    'verdict-copy',
    'verdict-show',
    'order',
    'search',
    'suspect',
    'grid',
    'preempt',
    'card-close',
    'waits-title',
    'pace',
    'rounds-name',
    'keys-prefix',
    'chart',
    'severity',
    'events-text',
    'events-title',
    'hosts-title',
  ]) {
    assert.ok(reached.has(id), `${id} of ${[...reached]}`);
  }
});

test('a host can be searched for, and Enter goes to the next', async () => {
  const page = await show(scenes.working());

  await page.locator('#search').fill('B002:');
  assert.equal(await text(page, '#search-result'), '8 tasks found by ‘b002:’');
  assert.equal(await text(page, '#details .task dd'), '16');
  await page.locator('#search').press('Enter');
  assert.equal(await text(page, '#details .task dd'), '17');
  assert.equal(await text(page, '#details .waits-for dd'), 'key ‘address/0’');
});

test('hovering over a task shows it, and the selection is restored', async () => {
  const page = await show(scenes.working());
  const at = (number) =>
    page.evaluate((wanted) => {
      const hosts = Array.from({length: 25}, (_, host) => ({
        name: `b${String(host).padStart(3, '0')}`,
        tasks: Array.from({length: 8}, (__, place) => 8 * host + place),
      }));
      const {clientWidth} = document.getElementById('grid');
      const layout = layOutHosts(hosts, 200, clientWidth, gridHeight(200, innerHeight));
      const {x, y} = placeOf(layout, wanted);
      return {x: x + layout.size / 2, y: y + layout.size / 2};
    }, number);

  await page.locator('#grid-canvas').click({position: await at(17)});
  await page.locator('#grid-canvas').hover({position: await at(93)});
  assert.equal(await text(page, '#details .task dd'), '93');
  assert.match(await text(page, '#details .state'), /suspect: its connection was lost/);
  await page.mouse.move(5, 5);
  assert.equal(await text(page, '#details .task dd'), '17');
});

test('a state of the legend can be shown alone', async () => {
  const page = await show(scenes.working());
  const button = page.locator('#legend [data-state="suspect"]');

  await button.click();
  assert.equal(await button.getAttribute('aria-pressed'), 'true');
  await button.click();
  assert.equal(await button.getAttribute('aria-pressed'), 'false');
});

// What axe-core finds wrong by WCAG 2.2 AA, contrast included.
async function faults(page) {
  await page.evaluate(axe);
  const {violations} = await page.evaluate(() =>
    window.axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']}),
  );
  return violations.flatMap(({id, nodes}) => nodes.map(({html}) => `${id}: ${html}`));
}

const MARKS = [
  ...['connected', 'waiting', 'missing', 'stalled', 'suspect', 'failed', 'ended', 'joining'],
  ...['returning', 'never', 'left'],
];

for (const colorScheme of ['light', 'dark']) {
  test(`axe-core finds no fault in ${colorScheme}, whatever is open`, async () => {
    await feed.control({answer: {...AS_OPERATOR, ...answers}});
    const page = await show(scenes.failed(), {colorScheme, bypassCSP: true});

    for (const scene of ['failed', 'stuck', 'working', 'slowHost', 'empty', 'states']) {
      await feed.control({send: {...scenes[scene](), address: `${scene}:1`}});
      await page.locator('#address', {hasText: scene}).waitFor();
      assert.deepEqual(await faults(page), [], scene);
    }
    const error = {code: 'INTERNAL', message: 'a traceback '.repeat(200)};
    await feed.control({send: update({tasks: [task(15, {state: 'failed', error})]})});
    await page.locator('#search').fill('15');
    await page.locator('#details .error').waitFor();
    await page.locator('#menu-button').click();
    assert.deepEqual(await faults(page), [], 'with the card and the menu');
    await page.locator('#stop').click();
    assert.deepEqual(await faults(page), [], 'with a question');
    await page.keyboard.press('Escape');
    await feed.control({send: scenes.working()});
    await page.locator('#stacks-take').click();
    await page.locator('#stacks-groups pre').first().waitFor();
    assert.deepEqual(await faults(page), [], 'with stacks');
  });

  test(`marks stand out from what is behind them in ${colorScheme} (WCAG AA)`, async () => {
    const page = await show(scenes.states(), {colorScheme});
    for (const [mark, ratio] of await contrasts(page, MARKS)) {
      assert.ok(ratio >= 3, `${mark}: ${ratio.toFixed(2)}`);
    }
  });
}

// Of the colours of marks and the surface, by WCAG.
function contrasts(page, names) {
  return page.evaluate((wanted) => {
    const luminance = (colour) => {
      const context = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
      const [red, green, blue] = [...context.getImageData(0, 0, 1, 1).data].map((value) => {
        const share = value / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const colours = coloursOf([...wanted, 'surface']);
    const surface = luminance(colours.surface);
    return wanted.map((name) => {
      const mark = luminance(colours[name]);
      return [name, (Math.max(mark, surface) + 0.05) / (Math.min(mark, surface) + 0.05)];
    });
  }, names);
}

test('the theme can be switched, and is kept', async () => {
  const page = await show(scenes.four(), {colorScheme: 'light'});
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();

  await page.locator('#menu-button').click();
  assert.ok(await page.getByLabel('As the system').isChecked());
  await page.getByLabel('Light').check();
  assert.equal(await background(), light);
  await page.getByLabel('Dark').check();
  assert.notEqual(await background(), light);
  await page.keyboard.press('Escape');
  assert.ok(await page.locator('#menu').isHidden());

  await page.reload();
  await live(page);
  await page.locator('#menu-button').click();
  assert.ok(await page.getByLabel('Dark').isChecked());
  assert.notEqual(await background(), light);
});

test('the card of a task is beside its tile, on any screen', async () => {
  for (const [width, count] of [
    [390, 8],
    [390, 200],
    [1280, 8],
    [1280, 200],
    [2560, 200],
  ]) {
    await feed.control({state: job(count)});
    const page = await fresh({viewport: {width, height: 900}});
    await page.goto(`${feed.url}#order=number`);
    await live(page);
    for (const number of [0, count / 2, count - 1]) {
      await page.locator('#search').fill(String(number));
      const {card, tile} = await page.evaluate(
        ([tasks, wanted]) => {
          const room = document.getElementById('grid').clientWidth;
          const layout = layOut(tasks, room, gridHeight(tasks, innerHeight));
          const {left, top} = document.getElementById('grid-canvas').getBoundingClientRect();
          const {x, y} = placeOf(layout, wanted);
          return {
            card: document.getElementById('card').getBoundingClientRect().toJSON(),
            tile: new DOMRect(left + x, top + y, layout.size, layout.size).toJSON(),
          };
        },
        [count, number],
      );
      const gaps = [card.left - tile.right, tile.left - card.right, card.top - tile.bottom];
      const gap = Math.max(...gaps);
      assert.ok(gap >= 4 && gap <= 16, `${width} px, task ${number}: ${gaps}`);
      assert.ok(card.left >= 0 && card.right <= width, `${width} px, task ${number}`);
    }
  }
});

test('a phone never needs horizontal scrolling', async () => {
  const message = scenes.failed();
  Object.assign(message.why, scenes.stuck().why);
  message.state.job = 'a-job-whose-name-is-longer-than-any-screen-of-a-phone-is-wide-'.repeat(3);
  message.state.barriers = [
    barrier({name: 'epoch/'.repeat(60), missing: '1,3,5,7,9,11-13,'.repeat(40) + '99'}),
  ];
  message.events.push(event(9, 'x'.repeat(600), {task: 199}));
  const page = await show(message, {
    viewport: {width: 360, height: 740},
    isMobile: true,
    hasTouch: true,
  });

  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.equal(width, 360);
  await page.locator('#grid-canvas').tap({position: {x: 20, y: 30}});
  assert.match(await text(page, '#details .task dd'), /^\d+$/);

  // A link in the banner brings the card into view.
  await page.locator('#card-close').tap();
  await page.locator('#verdict-title .task-link').tap();
  await page.waitForFunction(() => {
    const {top, bottom} = document.getElementById('card').getBoundingClientRect();
    return top >= 0 && bottom > top && bottom <= innerHeight;
  });
});

test('ten thousand tasks are drawn within a second, and updated without jank', async () => {
  const page = await show(job(4), {});
  const now = await clockOf(page);

  let start = await now();
  await feed.control({send: scenes.large()});
  await page.locator('#tasks-count', {hasText: '10,000'}).waitFor();
  const first = (await now()) - start;
  assert.equal((await counts(page)).waiting, '9,909');
  const updates = [];
  for (let batch = 0; batch < 10; ++batch) {
    const tasks = Array.from({length: 500}, (_, at) => task(batch * 500 + at, {suspect: true}));
    start = await now();
    await feed.control({send: update({summary: {keys: 7000 + batch}, tasks})});
    await page.locator('#figures strong', {hasText: `7,00${batch}`}).waitFor();
    updates.push((await now()) - start);
  }

  console.log(`10,000 tasks: ${Math.round(first)} ms; 500 changes: ${updates.map(Math.round)} ms`);
  assert.equal((await counts(page)).suspect, '5,000');
  assert.ok(first < 1000, `${first} ms`);
  const median = [...updates].sort((a, b) => a - b)[updates.length / 2];
  assert.ok(median < 100, `${updates} ms`);
});

test('every mark is inside, for any number of tasks on any screen', async () => {
  const page = await show(scenes.four());

  const outside = await page.evaluate(() => {
    const found = [];
    for (const count of [1, 2, 9, 10, 11, 64, 65, 200, 1000, 9999, 10000, 50000]) {
      for (let width = WIDTH_MIN; width < 1700; width += 7) {
        const layout = layOut(count, width, 480);
        const ends = [Math.min(count, layout.columns) - 1, count - 1].map((number) =>
          placeOf(layout, number),
        );
        const isInside = ends.every(
          ({x, y}) => x + layout.size <= width && y + layout.size <= layout.height,
        );
        if (!isInside || layout.size < 1) found.push([count, width]);
      }
    }
    return found;
  });

  assert.deepEqual(outside, []);
});

test('every mark of a host is inside, without overlaps', async () => {
  const page = await show(scenes.four());

  const wrong = await page.evaluate(() => {
    const found = [];
    for (const [count, each] of [
      [2, 1],
      [16, 8],
      [200, 8],
      [199, 64],
      [3000, 1000],
      [10000, 8],
      [10000, 4],
    ]) {
      const hosts = Array.from({length: Math.ceil(count / each)}, (_, host) => ({
        name: host === 3 ? null : `a-host-with-a-rather-long-name-${host}`,
        tasks: Array.from(
          {length: Math.min(each, count - host * each)},
          (__, at) => host * each + at,
        ),
      }));
      for (const width of [WIDTH_MIN, 320, 777, 1640]) {
        const layout = layOutHosts(hosts, count, width, 480);
        const places = new Set();
        for (let number = 0; number < count; ++number) {
          const {x, y} = placeOf(layout, number);
          places.add(x * 65536 + y);
          const isInside = x + layout.size <= width && y + layout.size <= layout.height;
          const isFound = taskAt(layout, x + layout.size / 2, y + layout.size / 2) === number;
          if (!isInside || (number % 97 === 0 && !isFound))
            found.push([count, each, width, number]);
        }
        if (places.size !== count) found.push([count, each, width]);
      }
    }
    return found.slice(0, 5);
  });

  assert.deepEqual(wrong, []);
});

test('a window moved to a sharper screen is redrawn', async () => {
  const page = await show(scenes.four(), {});
  const session = await page.context().newCDPSession(page);
  const screen = {width: 1280, height: 900, mobile: false};

  await session.send('Emulation.setDeviceMetricsOverride', {...screen, deviceScaleFactor: 3});
  await feed.control({send: update({tasks: [task(1, {suspect: true})]})});
  await page.waitForFunction(() => {
    const canvas = document.getElementById('grid-canvas');
    return canvas.width === Math.round(3 * parseFloat(canvas.style.width));
  });

  assert.deepEqual(page.violations, []);
});

test('one failed task of ten thousand is found', async () => {
  const page = await show(scenes.large());

  await page.locator('#search').fill('7342');

  assert.equal(await text(page, '#details .task dd'), '7342');
  const error = await text(page, '#details .error');
  assert.match(error, /UNAVAILABLE: the connection of task 7342 was lost/);
});

test('the page reconnects when the coordinator is back', async () => {
  const page = await show(scenes.four());

  await feed.control({stop: true});
  await page.locator('#link-text', {hasText: /^reconnecting in \d+ s$/}).waitFor();
  // The banner says so, with the time of day of the coordinator.
  const gone = /^No answer since 14:1\d:\d\d; last known state: Running/;
  await page.locator('#verdict-title', {hasText: gone}).waitFor();
  assert.equal(await page.locator('#verdict').getAttribute('data-level'), 'warn');
  assert.equal(await text(page, '#verdict-command'), 'coxswain jobs');
  assert.match(await text(page, '#announcement'), gone);
  assert.equal(await page.title(), '⚠ train-7b · Coxswain');

  const other = job(3, {job: 'next', coordinator: '0000000000000002', rounds: []});
  await feed.control({state: other});
  await feed.control({start: true});
  await live(page);

  assert.equal(await text(page, '#job'), 'next');
  assert.equal(await text(page, '#tasks-count'), '3 on 1 host');
  assert.equal(await text(page, '#chart-reading'), 'No round has finished yet.');
  assert.match(await text(page, '#verdict-title'), /^Running/);
});

test('a coordinator that no longer answers is noticed though it closes nothing', async () => {
  const page = await show(scenes.four());
  assert.match(await text(page, '#verdict-title'), /^Running/);

  await feed.control({freeze: true});
  await page.locator('#verdict-title', {hasText: /^No answer since 14:1/}).waitFor();
  const age = await text(page, '#waits .times');
  await page.waitForTimeout(1500);
  assert.equal(await text(page, '#waits .times'), age); // of the last known state

  await feed.control({freeze: false});
  await page.locator('#verdict-title', {hasText: /^Running/}).waitFor();
});

test('a calm coordinator that answers is not gone', async () => {
  const page = await show(scenes.four());

  await page.waitForRequest(/livez$/);
  await page.waitForTimeout(1500);

  assert.match(await text(page, '#verdict-title'), /^Running/);
  assert.equal(await text(page, '#link-text'), 'live');
});

test('later attempts are further apart, and one can be made at once', async () => {
  const page = await show(scenes.four());
  await feed.control({stop: true});

  await page.locator('#link-text', {hasText: /in [3-9] s/}).waitFor();
  await feed.control({start: true});
  // The next attempt may be due just now, and then there is no such button.
  await page.evaluate(() => document.getElementById('reconnect').click());

  await page.locator('#link[data-state="live"]').waitFor();
});

test('a locked job asks for its token', async () => {
  await feed.control({token: 'open sesame'});
  await feed.control({state: scenes.four()});
  const page = await visit({});
  await page.locator('#login[open]').waitFor();

  await page.locator('#token').fill('wrong');
  await page.keyboard.press('Enter');
  await page.locator('#login-refused', {hasText: 'This is no token of the job.'}).waitFor();
  await page.locator('#token').fill('open sesame');
  await page.keyboard.press('Enter');
  await live(page);

  assert.ok(await page.locator('#login').isHidden());
  assert.equal(await text(page, '#tasks-count'), '4 on 1 host');
});

test('there are no external resources, and no motion with reduced motion', async () => {
  const asked = [];
  const page = await show(scenes.four(), {reducedMotion: 'reduce'});
  page.on('request', (request) => asked.push(request.url()));
  await page.reload();
  await live(page);

  assert.deepEqual(
    [...new Set(asked.map((url) => new URL(url)).filter(({protocol}) => protocol !== 'data:'))]
      .map(({href, origin}) => [href, origin])
      .filter(([, origin]) => `${origin}/` !== feed.url),
    [],
  );
  assert.ok(asked.includes(feed.url));
  const moving = await page.evaluate(
    () =>
      [...document.querySelectorAll('*')].filter(
        (element) =>
          getComputedStyle(element).transitionDuration !== '0s' ||
          getComputedStyle(element).animationName !== 'none',
      ).length,
  );
  assert.equal(moving, 0);
});

test('nothing moves while the job runs (CLS below 0.05)', async () => {
  await feed.control({state: scenes.empty()});
  for (const viewport of [
    {width: 1280, height: 900},
    {width: 390, height: 844},
    {width: 2560, height: 1440},
  ]) {
    const page = await visit({viewport});
    await live(page);
    await page.evaluate(() => {
      window.shift = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) window.shift += entry.value;
      }).observe({type: 'layout-shift', buffered: false});
    });

    const tasks = Array.from({length: 16}, (_, number) => task(number));
    for (let part = 0; part < 4; ++part) {
      await feed.control({send: update({tasks: tasks.slice(4 * part, 4 * part + 4)})});
      await frames(page);
    }
    for (let number = 1; number <= 12; ++number) {
      const open = barrier({round: number, arrived: 15, expected: 16, missing: '7', age_ms: 3000});
      const waits = [wait({round: number, waiting: '0-6,8-15', known: [known(7)]})];
      await feed.control({
        send: update({
          barriers: [open],
          why: {stuck: null, waits, more: 0},
          events: [event(number, 'x')],
        }),
      });
      await frames(page);
      await feed.control({
        send: update({rounds: [round(number)], why: {stuck: null, waits: [], more: 0}}),
      });
      await frames(page);
    }
    const {error, headline, state} = scenes.failed().state;
    const summary = {error, headline, state};
    await feed.control({send: update({summary, tasks: [task(5, {suspect: true})]})});
    await page.locator('#verdict[data-level="bad"]').waitFor();
    await frames(page);

    const shift = await page.evaluate(() => window.shift);
    console.log(`${viewport.width} px: layout shift ${shift.toFixed(4)}`);
    assert.ok(shift < 0.05, `${viewport.width} px: ${shift}`);
  }
});

// Waits until the page has drawn the last message.
function frames(page) {
  return page.evaluate(
    () =>
      new Promise((done) => {
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)));
      }),
  );
}

test('a link shows the same selection', async () => {
  const page = await show(scenes.working());
  await page.locator('#waits .show').first().click();
  await page.locator('#grid').focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  await page.locator('#severity').selectOption('warning');
  await page.locator('#events-text').fill('connection');
  await page.locator('#keys-prefix').fill('address/');
  await page.waitForURL(/task=1&.*prefix=address/);

  const other = await visit({});
  await other.goto(page.url());
  await live(other);

  assert.equal(await text(other, '#details .task dd'), '1');
  assert.equal(await text(other, '#search-result'), '3 tasks missing at barrier ‘step’ round 418');
  assert.equal(await other.locator('#severity').inputValue(), 'warning');
  assert.equal(await other.locator('#events li').count(), 1);
  assert.equal(await other.locator('#keys-prefix').inputValue(), 'address/');

  for (const [link, shown] of [
    ['#state=suspect', '1 task suspect'],
    ['#host=b017', '8 tasks on b017'],
    ['#find=b002%3A', '8 tasks found by ‘b002:’'],
    ['#task=99999&state=nonsense', 'Point at a task, or use the arrow keys.'],
    ['#', 'Point at a task, or use the arrow keys.'],
  ]) {
    const linked = await fresh();
    await linked.goto(`${feed.url}${link}`);
    await live(linked);
    assert.equal(await text(linked, '#search-result'), shown, link);
    assert.deepEqual(linked.violations, []);
  }
});

const keyed = (...names) => ({
  keys: names.map((key) => ({key, version: 7, bytes: 5})),
  version: 9,
  more: false,
});

test('a selection before following a link does not change the address', async () => {
  const page = await show(scenes.working());
  const missing = await page.evaluate(() => {
    document.querySelector('#show-all').click(); // written 100 ms later
    location.hash = '#missing=tasks:step';
    address.write(); // as if that were now, before the event of the new address
    return address.get('missing');
  });

  assert.equal(missing, 'tasks:step');
});

test('keys are browsed by prefix, and a value is shown', async () => {
  await feed.control({
    answer: {
      'keys?prefix=&limit=100': [200, {...keyed('address/0', 'address/1'), more: true}],
      'keys?prefix=&limit=102': [200, keyed('address/0', 'address/1', 'zeta')],
      'keys?prefix=ze&limit=100': [200, keyed('zeta')],
      'keys/address%2F0': [200, {key: 'address/0', version: 7, bytes: 5, value: 'b0:80'}],
      'keys/address%2F1': [
        200,
        {key: 'address/1', version: 7, bytes: 2, value: null, value_hex: 'ff00'},
      ],
      'keys/zeta': [404, {code: 'NOT_FOUND', message: "there is no key 'zeta'"}],
    },
  });
  const page = await show(job(4));
  const row = (key) => page.locator('#keys button', {hasText: key});
  const facts = (wanted) => page.locator('#keys-value-facts', {hasText: wanted}).waitFor();

  await row('address/0').click();
  await facts('version 7 · 5 B');
  assert.equal(await text(page, '#keys-value-text'), 'b0:80');
  await row('address/1').click();
  await page.locator('#keys-value-text', {hasText: 'bytes, in hexadecimal: ff00'}).waitFor();
  await page.locator('#keys-more').click();
  await row('zeta').click();
  await facts("there is no key 'zeta'");
  await page.waitForURL(/key=zeta/);
  await page.locator('#keys-value-close').click();
  assert.ok(await page.locator('#keys-value').isHidden());

  await page.locator('#keys-prefix').fill('ze');
  await row('address/0').waitFor({state: 'detached'});
  await page.locator('#keys-prefix').fill('no such');
  await page.locator('#keys-none', {hasText: 'No key begins like this.'}).waitFor();
});

// The request that the page posts when the confirmation button is pressed.
async function posted(page, press) {
  const request = page.waitForRequest((one) => one.method() === 'POST');
  await press();
  const one = await request;
  return [new URL(one.url()).pathname, one.postDataJSON()];
}

test('an operator cancels, preempts, drains and stops, each after a confirmation', async () => {
  await feed.control({answer: AS_OPERATOR});
  const page = await show(scenes.four());
  const yes = () => page.locator('#confirm-yes').click();

  await page.locator('#waits .cancel').click();
  assert.equal(await text(page, '#confirm-title'), 'Cancel round 418 of ‘step’?');
  await page.locator('#confirm-no').click();
  assert.ok(await page.locator('#confirm').isHidden());

  await page.locator('#waits .cancel').click();
  assert.deepEqual(await posted(page, yes), ['/api/v1/cancel', {barrier: 'step', round: 418}]);
  await page.locator('#notice', {hasText: 'Round 418 of ‘step’ was cancelled.'}).waitFor();

  await page.locator('#grid').focus();
  await page.keyboard.press('End');
  await page.locator('#preempt').click();
  await page.locator('#confirm-value').fill('90s');
  assert.deepEqual(await posted(page, yes), ['/api/v1/preempt', {task: 3, in: '90s'}]);

  await page.locator('#menu-button').click();
  await page.locator('#drain').click();
  assert.ok(await page.locator('#menu').isHidden());
  assert.deepEqual(await posted(page, yes), ['/api/v1/drain', {}]);
  await page.locator('#notice', {hasText: 'it ends when all tasks have left'}).waitFor();

  await page.locator('#menu-button').click();
  await page.locator('#stop').click();
  assert.equal(await text(page, '#confirm-title'), 'Stop the job?');
  assert.deepEqual(await posted(page, yes), ['/api/v1/stop', {}]);
  await page.locator('#notice', {hasText: 'The coordinator is stopping.'}).waitFor();
});

test('an operator sees the stacks of the missing processes as they come', async () => {
  const group = (tasks, count, stack, rest = '') => ({
    ...{tasks, tasks_cut: 0, count, missing_for_ms: 14200, is_taken: true, stack, rest},
  });
  const first = {
    ...{number: 7, complete: false, age_ms: 0, wanted: 3, more: 2},
    groups: [group('17', 1, 'read (train.py:12)', 'thread 2: sleeps')],
  };
  await feed.control({answer: {...AS_OPERATOR, stacks: [200, first]}});
  const page = await show(scenes.working());
  const press = () => page.locator('#stacks-take').click();

  assert.deepEqual(await posted(page, press), ['/api/v1/stacks', {}]);
  await page.locator('#stacks-state', {hasText: '1 of 3 stacks taken…'}).waitFor();
  assert.deepEqual(await posted(page, () => {}), ['/api/v1/stacks', {number: 7}]);
  const groups = [...first.groups, group('93,140', 2, 'all_reduce (train.py:40)')];
  const all = {...first, complete: true, groups};
  await feed.control({answer: {...AS_OPERATOR, stacks: [200, all]}});

  await page.locator('#stacks-groups > li').nth(1).waitFor();
  assert.deepEqual(await page.locator('#stacks-groups strong').allInnerTexts(), [
    'task 17, missing for 14 s',
    'tasks 93,140, missing for 14 s',
  ]);
  assert.deepEqual(await page.locator('#stacks-groups .stack').allInnerTexts(), [
    'read (train.py:12)',
    'all_reduce (train.py:40)',
  ]);
  await page.locator('#stacks-state', {hasText: /^2 further tasks not asked\.$/}).waitFor();
  await page.locator('#stacks-groups summary').first().click();
  await page.getByText('thread 2: sleeps').waitFor();
  await page.keyboard.press('Escape');
  assert.ok(await page.locator('#stacks').isHidden());

  const why = {code: 'UNAVAILABLE', message: 'no process can be asked'};
  await feed.control({answer: {...AS_OPERATOR, stacks: [503, why]}});
  await press();
  await page.locator('#stacks-state', {hasText: why.message}).waitFor();
});

test('what the coordinator refuses stands in the question', async () => {
  const why = {code: 'FAILED_PRECONDITION', message: "barrier 'step' has no open round to cancel"};
  await feed.control({answer: {...AS_OPERATOR, cancel: [400, why]}});
  const page = await show(scenes.four());

  await page.locator('#waits .cancel').click();
  await page.locator('#confirm-yes').click();

  await page.locator('#confirm-refused', {hasText: why.message}).waitFor();
  assert.ok(await page.locator('#confirm').isVisible());
  await page.keyboard.press('Escape');
  assert.ok(await page.locator('#confirm').isHidden());
});

test('who may only look sees no buttons of operators', async () => {
  await feed.control({answer: {role: [200, {role: 'reader'}]}});
  const page = await show(scenes.working());

  await page.locator('#grid').focus();
  await page.keyboard.press('End');
  await page.locator('#menu-button').click();
  for (const one of ['#waits .cancel', '#preempt', '#stacks-take', '#stop', '#drain']) {
    assert.ok(await page.locator(one).first().isHidden(), one);
  }
});

test('the slider of a recording shows other moments, and keeps the last chosen one', async () => {
  const recorded = {started: '2026-11-23T03:00:00.000+01:00', begins_ms: 0, ends_ms: 836000};
  const end = job(4, {rounds: [1, 2, 3].map((number) => round(number))}, {
    recorded,
    events: [event(1, 'all 4 tasks have joined'), event(2, 'the end has come')],
  });
  const at = (ms) =>
    job(4, {uptime_ms: ms, keys: ms, rounds: [round(1)]}, {
      recorded,
      events: [event(1, 'all 4 tasks have joined')],
    });
  await feed.control({
    answer: {
      role: [200, {role: 'reader'}],
      'moment?at=0ms': [200, at(0)],
      'moment?at=418000ms': [200, at(418000)],
    },
  });
  const page = await show(end);
  const slider = page.locator('#recorded-slider');

  assert.equal(await text(page, '#link-text'), 'recording');
  assert.equal(
    await text(page, '#recorded-moment'),
    'at 2026-11-23 03:13:56, 00:13:56.000 of 00:13:56.000 after the start',
  );
  await slider.fill('5000');
  await page.locator('#keys-count', {hasText: '418,000'}).waitFor();
  assert.match(await text(page, '#recorded-moment'), /at 2026-11-23 03:06:58, 00:06:58\.000 of/);
  assert.equal(await page.locator('#events li').count(), 1);
  assert.equal(await text(page, '#uptime'), '6 min 58 s');
  await page.waitForTimeout(1500);
  assert.equal(await text(page, '#uptime'), '6 min 58 s');

  await slider.focus();
  await page.keyboard.press('Home');
  await page.locator('#recorded-moment', {hasText: '03:00:00, 00:00:00.000'}).waitFor();
  assert.equal(await slider.inputValue(), '0');
  assert.ok(await page.locator('#recorded-lost').isHidden());
  await page.locator('#menu-button').click();
  assert.ok(await page.locator('#stop').isHidden());
  assert.deepEqual(page.violations, []);
});

test('a recording that does not begin with the job says so', async () => {
  const recorded = {started: '2026-11-23T03:00:00.000+01:00', begins_ms: 300000, ends_ms: 836000};
  const page = await show(job(4, {}, {recorded}));

  assert.equal(await text(page, '#recorded-lost'), 'The first 5 min of the job are not in it.');

  // Of one whose records were dropped, events alone are left.
  const headline = 'Only the events of this recording are left: its first 1234 records were lost';
  const facts = {headline, state: 'unknown', since: null, num_tasks: 0, tasks: []};
  await feed.control({send: job(0, facts, {recorded, events: [event(1, 'the job has failed')]})});
  await page.locator('#verdict-title', {hasText: headline}).waitFor();
  assert.equal(await text(page, '#verdict-command'), '--record FILE');
  assert.equal(await page.locator('#events li').count(), 1);
  assert.ok(await page.locator('#events').isVisible());
  assert.ok(await page.locator('#figures').isHidden());
  assert.ok(await page.locator('#tasks').isHidden());
  assert.deepEqual(page.violations, []);
});
