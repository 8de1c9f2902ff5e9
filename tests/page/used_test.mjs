// How the page is used: by keyboard, by touch, in the dark, over a bad connection, with many tasks.

import assert from 'node:assert/strict';
import {test} from 'node:test';

import {clockOf, counts, feed, show, text, visit} from './desk.mjs';
import {barrier, event, job, scenes, task, update} from './jobs.mjs';
import {live} from './page.mjs';

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
  assert.equal(await text(page, '#announcement'), 'Task 94, at a barrier');
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
    reached.add(
      await page.evaluate(() => document.activeElement.id || document.activeElement.dataset.state),
    );
  }
  for (const id of [
    'theme',
    'search',
    'failed',
    'grid',
    'rounds-name',
    'chart',
    'severity',
    'events-text',
    'events',
  ]) {
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
  const at = (number) =>
    page.evaluate((wanted) => {
      const layout = layOut(
        200,
        document.getElementById('grid').clientWidth,
        Math.min(480, innerHeight * 0.6),
      );
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
      const [red, green, blue] = channels(colour)
        .slice(0, 3)
        .map((value) => {
          const share = value / 255;
          return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const behind = (element) => {
      const colour = getComputedStyle(element).backgroundColor;
      return channels(colour)[3] === 0 && element.parentElement
        ? behind(element.parentElement)
        : colour;
    };
    return wanted.map((selector) => {
      const element = document.querySelector(selector);
      const [one, other] = [getComputedStyle(element).color, behind(element)].map(luminance);
      return [selector, (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)];
    });
  }, selectors);
}

const READABLE = [
  '#job',
  '.facts dt',
  '#link',
  '#theme',
  '#failure-title',
  '#failure-why',
  '#failure-later-count',
  '.figures dt',
  '.figures strong',
  '.figures span',
  '.count',
  '#search',
  '#legend button',
  '#legend .empty',
  '#details',
  '#waits .times',
  '#waits .missing',
  '#waits .badge',
  '.task-link',
  'thead th',
  '#chart-reading',
  '#events time',
  '#events .severity',
  '#events .warning .severity',
  '#events .error .severity',
];

for (const colorScheme of ['light', 'dark']) {
  test(`all text can be read in ${colorScheme} (WCAG AA)`, async () => {
    const message = scenes.failed();
    message.why = scenes.stuck().why;
    const page = await show(message, {colorScheme});

    for (const [selector, ratio] of await contrasts(page, [
      ...READABLE,
      '#stuck h2',
      '#stuck-why',
    ])) {
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
    for (const [selector, ratio] of await contrasts(
      page,
      marks.map((name) => `#probe-${name}`),
    )) {
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
  await page.locator('#grid-canvas').tap({position: {x: 60, y: 10}});
  assert.match(await text(page, '#details .task strong'), /^\d+$/);
});

test('ten thousand tasks are drawn within a second, and updated without jank', async () => {
  const page = await show(job(4), {});
  const now = await clockOf(page);

  let start = await now();
  await feed.tell({send: scenes.large()});
  await page.locator('#tasks-count', {hasText: '10,000'}).waitFor();
  const first = (await now()) - start;
  assert.equal((await counts(page)).waiting, '6,210');
  const updates = [];
  for (let batch = 0; batch < 10; ++batch) {
    const tasks = Array.from({length: 500}, (_, at) => task(batch * 500 + at, {suspect: true}));
    start = await now();
    await feed.tell({send: update({summary: {keys: 7000 + batch}, tasks})});
    await page.locator('#figures strong', {hasText: `7,00${batch}`}).waitFor();
    updates.push((await now()) - start);
  }

  console.log(`10,000 tasks: ${Math.round(first)} ms; 500 changes: ${updates.map(Math.round)} ms`);
  assert.equal((await counts(page)).suspect, '5,000');
  assert.ok(first < 1000, `${first} ms`);
  assert.ok(Math.max(...updates) < 100, `${updates} ms`);
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
          ({x, y}) => x + layout.size <= width && y + layout.size <= heightOf(layout),
        );
        if (!isInside || layout.size < 1) found.push([count, width]);
      }
    }
    return found;
  });

  assert.deepEqual(outside, []);
});

test('a window that comes to a sharper screen is drawn anew', async () => {
  const page = await show(scenes.four(), {});
  const session = await page.context().newCDPSession(page);
  const screen = {width: 1280, height: 900, mobile: false};

  await session.send('Emulation.setDeviceMetricsOverride', {...screen, deviceScaleFactor: 3});
  await feed.tell({send: update({tasks: [task(1, {suspect: true})]})});
  await page.waitForFunction(() => {
    const canvas = document.getElementById('grid-canvas');
    return canvas.width === Math.round(3 * parseFloat(canvas.style.width));
  });

  assert.deepEqual(page.complaints, []);
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
  await page.locator('#link-text', {hasText: /^reconnecting in \d+ s$/}).waitFor();
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

  await page.locator('#link-text', {hasText: /in [3-9] s/}).waitFor();
  await feed.tell({start: true});
  // The next try may be due just now, and then there is no such button.
  await page.evaluate(() => document.getElementById('reconnect').click());

  await page.locator('#link[data-state="live"]').waitFor();
});

test('a locked job asks for its token', async () => {
  await feed.tell({token: 'open sesame'});
  await feed.tell({state: scenes.four()});
  const page = await visit({});
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

test('nothing is taken from elsewhere, and nothing moves for who wants calm', async () => {
  const asked = [];
  const page = await show(scenes.four(), {reducedMotion: 'reduce'});
  page.on('request', (request) => asked.push(request.url()));
  await page.reload();
  await live(page);

  assert.deepEqual(
    asked.filter((url) => !url.startsWith('data:')),
    [feed.url],
  );
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
