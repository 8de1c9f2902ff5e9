// Takes screenshots of the page's scenes:
//   node screenshots.mjs [--whole] DIRECTORY [SCENE-SHAPE...]
// A scene and shape such as failed-light; without any, all of them. With --whole, the full page.
// The README files show those in pictures/: eight-small, failed-light and large-dark. The variables
// are those of tests/page/CMakeLists.txt.

import path from 'node:path';

import {answers, scenes} from './jobs.mjs';
import {Feed, launch, live, open} from './page.mjs';

const shapes = {
  light: {colorScheme: 'light', viewport: {width: 1280, height: 1000}},
  dark: {colorScheme: 'dark', viewport: {width: 1280, height: 1000}},
  small: {colorScheme: 'light', viewport: {width: 1280, height: 640}},
  phone: {colorScheme: 'light', viewport: {width: 390, height: 844}, deviceScaleFactor: 2},
  night: {colorScheme: 'dark', viewport: {width: 390, height: 844}, deviceScaleFactor: 2},
  wide: {colorScheme: 'light', viewport: {width: 2560, height: 1440}},
  vast: {colorScheme: 'dark', viewport: {width: 2560, height: 1440}},
};

const words = process.argv.slice(2).filter((word) => word !== '--whole');
const isWhole = words.length < process.argv.length - 2;
const [directory, ...wanted] = words;
const all = Object.keys(scenes).flatMap((scene) =>
  Object.keys(shapes).map((shape) => `${scene}-${shape}`),
);

const feed = await Feed.start();
await feed.control({answer: answers});
const browser = await launch();
for (const name of wanted.length > 0 ? wanted : all) {
  const [scene, shape] = name.split('-');
  await feed.control({state: scenes[scene]()});
  const page = await open(browser, shapes[shape]);
  await page.goto(feed.url);
  await live(page);
  await page.screenshot({path: path.join(directory, `${name}.png`), fullPage: isWhole});
  if (page.violations.length > 0) console.log(name, page.violations);
  await page.context().close();
}
await browser.close();
await feed.end();
