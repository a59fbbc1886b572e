// Takes screenshots of the page's main states at three sizes, light and dark: `npm run screenshots -- [folder] [state…]`.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import chromium from '@sparticuz/chromium';
import { chromium as driver } from 'playwright-core';
import { serveDemo } from './screenshots/demo-server.mjs';
import { states } from './screenshots/states.mjs';

const sizes = {
  desktop: { width: 1440, height: 900 },
  tablet: { width: 834, height: 1112 },
  phone: { width: 390, height: 844, isMobile: true, hasTouch: true },
};
const flags = JSON.parse(readFileSync(join(import.meta.dirname, '../test/support/chromium-flags.json'), 'utf8'));

const [folder = 'screenshots', ...names] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const unknown = names.filter((name) => !Object.hasOwn(states, name));
if (unknown.length > 0) {
  console.error(`There is no state ${unknown.join(', ')}: ${Object.keys(states).join(', ')}`);
  process.exit(2);
}
const browser = await driver.launch({ executablePath: await chromium.executablePath(), args: flags });
try {
  for (const [name, state] of Object.entries(states)) {
    if (names.length === 0 || names.includes(name)) await picturesOf(name, state);
  }
} finally {
  await browser.close();
}

/** Prepares the state once and takes a screenshot in every size and color scheme. */
async function picturesOf(name, { script = [], extension, prepare, pose = async () => {}, isLoggedOut = false }) {
  const demo = await serveDemo({ script, extension });
  try {
    const first = await browser.newContext({ viewport: sizes.desktop });
    const page = await first.newPage();
    await page.goto(demo.loginLink);
    await prepare?.(page, demo);
    const address = page.url();
    const login = isLoggedOut ? {} : { storageState: await first.storageState() };
    for (const [size, { isMobile = false, hasTouch = false, ...viewport }] of Object.entries(sizes)) {
      for (const colorScheme of ['light', 'dark']) {
        const context = await browser.newContext({
          ...login,
          viewport,
          isMobile,
          hasTouch,
          colorScheme,
          deviceScaleFactor: 1.5,
        });
        const view = await context.newPage();
        await view.goto(address);
        await pose(view, { ...demo, size });
        await view.screenshot({ path: join(folder, `${name}-${size}-${colorScheme}.png`), animations: 'disabled' });
        await context.close();
      }
    }
    console.log(name);
  } finally {
    await demo.close();
  }
}
