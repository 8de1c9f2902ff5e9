// The fixture of the page's tests: one browser with one page, and a feed.

import {after, afterEach, before, beforeEach} from 'node:test';

import {Feed, launch, live, open} from './page.mjs';

export let feed;
let browser;
let desk; // the page of most tests
let others;

before(async () => {
  [browser, feed] = await Promise.all([launch(), Feed.start()]);
  desk = await open(browser);
});
after(async () => {
  await browser.close();
  await feed.end();
});

beforeEach(async () => {
  others = [];
  await feed.control({start: true});
  await feed.control({freeze: false});
  await feed.control({token: null});
  await feed.control({answer: {}});
});
afterEach(async () => {
  for (const page of others) await page.context().close();
});

// A page of a fresh browser without stored state.
export async function fresh(options) {
  const page = await open(browser, options);
  others.push(page);
  return page;
}

// The page of the feed; with options, a fresh one.
export async function visit(options) {
  const page = options ? await fresh(options) : desk;
  page.violations.length = 0;
  await page.goto(feed.url);
  return page;
}

// A page that initially shows this job.
export async function show(message, options) {
  await feed.control({state: message});
  const page = await visit(options);
  await live(page);
  return page;
}

// What the legend shows of each state; others have no task.
export function counts(page) {
  return page
    .locator('#legend button:not([hidden])')
    .evaluateAll((buttons) =>
      Object.fromEntries(
        buttons.map((button) => [button.dataset.state, button.querySelector('b').textContent]),
      ),
    );
}

export function text(page, selector) {
  return page.locator(selector).innerText();
}

// Reloads the page, and measures the time from each message of the feed to the frame that shows
// it.
export async function timed(page) {
  await page.addInitScript(() => {
    window.times = [];
    window.WebSocket = class extends WebSocket {
      constructor(...where) {
        super(...where);
        this.addEventListener('message', () => {
          const start = performance.now();
          requestAnimationFrame(() =>
            setTimeout(() => window.times.push(performance.now() - start)),
          );
        });
      }
    };
  });
  await page.goto(feed.url);
  await live(page);
}

// These times in milliseconds, once there are this many.
export async function times(page, count) {
  await page.waitForFunction((wanted) => window.times.length >= wanted, count);
  return page.evaluate(() => window.times);
}

// CPU time of the page's main thread, in milliseconds: other programs do not advance it.
export async function clockOf(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', {timeDomain: 'threadTicks'});
  return async () => {
    const {metrics} = await session.send('Performance.getMetrics');
    return metrics.find(({name}) => name === 'TaskDuration').value * 1000;
  };
}
