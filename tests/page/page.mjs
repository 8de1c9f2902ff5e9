// The feed and the browser, for tests and screenshots: both end with their user.

import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {createRequire} from 'node:module';
import path from 'node:path';
import readline from 'node:readline';
import {fileURLToPath} from 'node:url';

const directory = path.dirname(fileURLToPath(import.meta.url));
const need = createRequire(path.join(process.env.COXSWAIN_PAGE_MODULES, 'from-here.js'));
const {chromium} = need('playwright-core');

// A script that gives a page `window.axe`.
export const axe = need('axe-core').source;

// Where page.html and page.policy are.
const site = process.env.COXSWAIN_SITE;

export class Feed {
  static async start() {
    const feed = new Feed();
    feed.process = spawn('python3', ['-B', path.join(directory, 'feed.py'), site], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    feed.lines = readline.createInterface({input: feed.process.stdout})[Symbol.asyncIterator]();
    feed.port = (await feed.line()).port;
    feed.url = `http://127.0.0.1:${feed.port}/`;
    return feed;
  }

  async line() {
    return JSON.parse((await this.lines.next()).value);
  }

  // See feed.py.
  async control(command) {
    this.process.stdin.write(`${JSON.stringify(command)}\n`);
    await this.line();
  }

  async end() {
    this.process.stdin.end();
    await once(this.process, 'exit');
  }
}

export function launch() {
  return chromium.launch({
    executablePath: process.env.COXSWAIN_CHROMIUM ?? '/usr/bin/chromium',
    args: process.getuid() === 0 ? ['--no-sandbox'] : [],
  });
}

// An empty page, and the errors on its console.
export async function open(browser, options = {}) {
  const context = await browser.newContext({viewport: {width: 1280, height: 900}, ...options});
  const page = await context.newPage();
  page.violations = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) page.violations.push(message.text());
  });
  page.on('pageerror', (error) => page.violations.push(String(error)));
  return page;
}

export async function live(page) {
  await page.locator('#link[data-state="live"]').waitFor();
}
