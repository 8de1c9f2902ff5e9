// tools/examples/troubles: of each of the eight jobs the page's banner says what is wrong, since
// when, whose fault it is, and what to type next.

import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtemp, rm} from 'node:fs/promises';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';

import {launch, open} from './page.mjs';

const TROUBLES = fileURLToPath(new URL('../../tools/examples/troubles', import.meta.url));
const LIMIT_MS = 60000; // until the job is in trouble
const ANSWER_MS = 10000; // then until a new visitor has all answers

// Of each: the sentence, since when, whose fault it is, and the command.
const ANSWERS = {
  missing: [
    /^Waiting for task 5: 7 of 8 have been at barrier 'step' for \d+ s/,
    /^since \d\d:\d\d:\d\d/,
    /task 5 \([^)]+:\d+, at step 5, answers\)/,
    /^coxswain why --stacks$/,
  ],
  deadlock: [
    /^Deadlock: tasks 0-7 are blocked on each other/,
    /^since \d\d:\d\d:\d\d, /,
    /task 0 \([^)]+:\d+, at step 5/,
    /^ssh \S+ kill \d+$/,
  ],
  'slow-host': [
    /^Slow: waits for node01 \(tasks 2-3\) 0\.\d s of each /,
    /^since \d\d:\d\d:\d\d, /,
    /task 2 \(node01:\d+/,
    /^ssh node01 top$/,
  ],
  killed: [
    /^Failed at \d\d:\d\d:\d\d: task 3 was killed by signal 11 \(SIGSEGV\)$/,
    /^\d+ s ago/,
    /task 3 \([^)]+:\d+, at step 5\).* tasks? ended with the job$/,
    /^coxswain events$/,
  ],
  'out-of-memory': [
    new RegExp(/^Failed at \d\d:\d\d:\d\d: task 3 was killed by signal 9 \(SIGKILL\)/.source +
               / \(out of memory\? on \S+: dmesg \| grep -i oom\)$/.source),
    /^\d+ s ago/,
    /task 3 \([^)]+:\d+, at step 5\).* tasks? ended with the job$/,
    /^ssh \S+ 'dmesg \| grep -i oom'$/,
  ],
  frozen: [
    /^Waiting for task 3: 7 of 8 have been at barrier 'step' for \d+ s/,
    /^since \d\d:\d\d:\d\d/,
    /task 3 \([^)]+:\d+, at step 5.* has not answered for \d+ s/,
    /^coxswain why --stacks$|^ssh \S+ ps -o stat,etime,args \d+$/,
  ],
  gathering: [
    /^Gathering: the first epoch needs 4 processes, 2 wait \(b[01], b[01]\)/,
    /^since \d\d:\d\d:\d\d/,
    /^/,
    /^coxswain task --address \S+:\d+ -- COMMAND$/,
  ],
  'coordinator-gone': [
    /^No answer since \d\d:\d\d:\d\d; last known state: /,
    /^since \d\d:\d\d:\d\d/,
    /^/,
    /^coxswain jobs$/,
  ],
};

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const {port} = server.address();
  server.close();
  return port;
}

function start(name, port, directory) {
  const kept = Object.entries(process.env).filter(([key]) => !/^(COXSWAIN_|JAX)/.test(key));
  return spawn(TROUBLES, [name, '--http', `127.0.0.1:${port}`], {
    env: {
      ...Object.fromEntries(kept),
      PATH: `${process.env.COXSWAIN_BIN}:${process.env.PATH}`,
      PYTHONPATH: process.env.COXSWAIN_PYTHON,
      HOME: directory,
      TMPDIR: directory,
      XDG_RUNTIME_DIR: directory,
      XDG_STATE_HOME: directory,
    },
    stdio: 'ignore',
  });
}

// As soon as there is a page.
async function visit(page, url) {
  const end = Date.now() + LIMIT_MS;
  for (;;) {
    const isThere = await page.goto(url).catch(() => null);
    if (isThere) return;
    assert.ok(Date.now() < end, 'no page is served');
    await new Promise((done) => setTimeout(done, 50));
  }
}

async function answers(page, [sentence, since, blamed, command], timeout) {
  await page.locator('#verdict-title', {hasText: sentence}).waitFor({timeout});
  await page.locator('#verdict-why', {hasText: since}).waitFor({timeout});
  await page.locator('#verdict-why', {hasText: blamed}).waitFor({timeout});
  await page.locator('#verdict-command', {hasText: command}).waitFor({timeout});
}

for (const [name, expected] of Object.entries(ANSWERS)) {
  test(`the banner says what is wrong with ${name}`, async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'coxswain-troubles-'));
    const port = await freePort();
    const trouble = start(name, port, directory);
    const ended = once(trouble, 'exit');
    const page = await open(browser);
    try {
      await visit(page, `http://127.0.0.1:${port}/`);
      await answers(page, expected, LIMIT_MS);
      if (name !== 'coordinator-gone') {
        await page.reload();
        await answers(page, expected, ANSWER_MS);
        assert.deepEqual(page.violations, []);
      }
    } finally {
      await page.context().close();
      trouble.kill('SIGINT');
      await ended;
      await rm(directory, {recursive: true, force: true});
    }
  });
}
