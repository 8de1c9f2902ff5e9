// The page on a real job: a coordinator and its tasks, one of which is killed or missing.

import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import {after, afterEach, before, test} from 'node:test';

import {launch, live, open} from './page.mjs';

const TASKS = 4;
const VICTIM = 2;

let browser;
let programs = [];

before(async () => {
  browser = await launch();
});
after(() => browser.close());

afterEach(() => {
  for (const program of programs) program.kill('SIGKILL');
  programs = [];
});

function start(name, args, environment = {}, read = 'stdout') {
  const kept = Object.entries(process.env).filter(([key]) => !/^(COXSWAIN_|JAX)/.test(key));
  const program = spawn(path.join(process.env.COXSWAIN_BIN, name), args, {
    env: {...Object.fromEntries(kept), ...environment},
    stdio: ['ignore', ...['stdout', 'stderr'].map((one) => (one === read ? 'pipe' : 'ignore'))],
  });
  programs.push(program);
  return program;
}

// Starts a coordinator and a process per task, with the actions in `doing`. Returns the page's
// address and the processes.
async function startJob(doing, ...options) {
  const listen = ['--listen', '127.0.0.1:0', '--http', '127.0.0.1:0'];
  const serve = start('coxswain', ['serve', '-n', TASKS, ...listen, ...options].map(String));
  const [line] = await once(readline.createInterface({input: serve.stdout}), 'line');
  const {addresses, http} = JSON.parse(line);
  const processes = Array.from({length: TASKS}, (_, task) =>
    start('coxswain', ['task', '--', ...doing(task)], {
      COXSWAIN_ADDRESS: addresses[0],
      COXSWAIN_NUM_TASKS: String(TASKS),
      COXSWAIN_TASK_ID: String(task),
    }),
  );
  return {url: `http://${http}/`, processes};
}

const nothing = () => ['sleep', '60'];

// When the page first shows a text there that matches, by this program's clock.
async function noteWhen(page, selector, wanted) {
  await page.evaluate(
    ([where, text]) => {
      const look = () => {
        const found = [...document.querySelectorAll(where)].some(
          (element) => element.checkVisibility() && new RegExp(text).test(element.textContent),
        );
        if (found) window.notedAt ??= Date.now();
      };
      new MutationObserver(look).observe(document.body, {
        attributes: true,
        characterData: true,
        childList: true,
        subtree: true,
      });
    },
    [selector, wanted.source],
  );
  return async () => {
    await page.waitForFunction(() => window.notedAt);
    return page.evaluate(() => window.notedAt);
  };
}

async function pageOf(url) {
  const page = await open(browser);
  await page.goto(url);
  await live(page);
  await page.locator('#figures div', {hasText: `Connected${TASKS} of ${TASKS}`}).waitFor();
  return page;
}

test('a killed task is the headline within a second', async () => {
  const {url, processes} = await startJob(nothing, '--reconnect-grace', '0s');
  const page = await pageOf(url);

  const noted = await noteWhen(page, '#verdict-title', /^Failed at [0-9:]+: task 2 /);
  const killedAt = Date.now();
  processes[VICTIM].kill('SIGKILL');
  const took = (await noted()) - killedAt;

  console.log(`${took} ms from the kill to the headline`);
  assert.ok(took < 1000, `${took} ms`);
  await page.locator('#legend [data-state="failed"]').waitFor();
  await page
    .locator('#events .text', {hasText: `task ${VICTIM} `})
    .first()
    .waitFor();
  assert.deepEqual(page.violations, []);
});

test('a lost task is suspect within a second, and failed after its grace', async () => {
  const {url, processes} = await startJob(nothing, '--reconnect-grace', '2s');
  const page = await pageOf(url);

  const noted = await noteWhen(page, '#legend [data-state="suspect"] b', /^1$/);
  const killedAt = Date.now();
  processes[VICTIM].kill('SIGKILL');
  const took = (await noted()) - killedAt;

  assert.ok(took < 1000, `${took} ms`);
  await page.locator('#verdict-title', {hasText: /^Failed at [0-9:]+: task 2 /}).waitFor();
});

test('a task missing at a barrier is named, and its round cancelled on the page', async () => {
  const barrier = [path.join(process.env.COXSWAIN_BIN, 'coxswain'), 'barrier', 'step'];
  const {url} = await startJob((task) => (task === VICTIM ? nothing() : barrier));
  const page = await pageOf(url);

  await page.locator('#waits .missing', {hasText: `missing: task ${VICTIM}`}).waitFor();
  await page.locator('#waits .known .task-link', {hasText: String(VICTIM)}).waitFor();
  assert.match(await page.locator('#address').innerText(), /^127\.0\.0\.1:\d+$/);
  const waiting = page.locator('#legend [data-state="waiting"] b', {hasText: String(TASKS - 1)});
  await waiting.waitFor();
  await page.locator('#waits .cancel').click();
  await page.locator('#confirm-yes').click();

  await page.locator('#notice', {hasText: 'Round 1 of ‘step’ was cancelled.'}).waitFor();
  const line = page.locator('#events .text', {hasText: 'cancelled by 127.0.0.1 over HTTP'});
  await line.first().waitFor();
  assert.deepEqual(page.violations, []);
});

test('the recording of a failed job shows it before its failure', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'coxswain-page-'));
  const recording = path.join(directory, 'job.recording');
  const options = ['--reconnect-grace', '0s', '--record', recording];
  const {url, processes} = await startJob(nothing, ...options);
  const running = await pageOf(url);
  processes[VICTIM].kill('SIGKILL');
  await running.locator('#verdict-title', {hasText: `Task ${VICTIM} failed`}).waitFor();
  programs[0].kill('SIGTERM');
  await once(programs[0], 'exit');

  const replay = start('coxswain', ['replay', recording, '--http', '127.0.0.1:0'], {}, 'stderr');
  const [line] = await once(readline.createInterface({input: replay.stderr}), 'line');
  const page = await open(browser);
  await page.goto(line.match(/http:\S+/)[0]);
  await live(page);
  await page.locator('#recorded').waitFor();
  const events = page.locator('#events .text', {hasText: `task ${VICTIM} `});
  await events.first().waitFor();
  const slider = page.locator('#recorded-slider');
  await slider.focus();
  await page.keyboard.press('Home');

  await page.locator('#recorded-moment', {hasText: ', 00:00:00.000 of'}).waitFor();
  await page.locator('#legend [data-state="never"] b', {hasText: String(TASKS)}).waitFor();
  assert.ok(await page.locator('#legend [data-state="failed"]').isHidden());
  assert.equal(await events.count(), 0);
  await page.keyboard.press('End');
  await events.first().waitFor();
  await page.locator('#menu-button').click();
  assert.ok(await page.locator('#stop').isHidden());
  assert.deepEqual(page.violations, []);
  await rm(directory, {recursive: true});
});

test('a key and its value are found', async () => {
  const coxswain = path.join(process.env.COXSWAIN_BIN, 'coxswain');
  const puts = ['sh', '-c', `"${coxswain}" put 'a/b c' hello && exec sleep 60`];
  const {url} = await startJob((task) => (task === VICTIM ? puts : nothing()));
  const page = await pageOf(url);

  await page.locator('#figures div', {hasText: 'Keys1'}).waitFor();
  await page.locator('#keys-prefix').fill('a/');
  await page.locator('#keys button', {hasText: 'a/b c'}).click();

  await page.locator('#keys-value-text', {hasText: 'hello'}).waitFor();
  assert.deepEqual(page.violations, []);
});
