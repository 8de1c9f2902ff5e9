// Takes pictures of the page's scenes: node screenshots.mjs FOLDER [SCENE...]

import path from 'node:path';

import {scenes} from './jobs.mjs';
import {Feed, launch, live, open} from './page.mjs';

const shapes = {
  light: {colorScheme: 'light', viewport: {width: 1280, height: 900}},
  dark: {colorScheme: 'dark', viewport: {width: 1280, height: 900}},
  phone: {colorScheme: 'light', viewport: {width: 360, height: 740}, deviceScaleFactor: 2},
};

const [folder, ...names] = process.argv.slice(2);
const feed = await Feed.start();
const browser = await launch();
for (const scene of names.length > 0 ? names : Object.keys(scenes)) {
  await feed.tell({state: scenes[scene]()});
  for (const [shape, options] of Object.entries(shapes)) {
    const page = await open(browser, options);
    await page.goto(feed.url);
    await live(page);
    await page.screenshot({path: path.join(folder, `${scene}-${shape}.png`), fullPage: true});
    if (page.complaints.length > 0) console.log(scene, shape, page.complaints);
    await page.context().close();
  }
}
await browser.close();
await feed.end();
