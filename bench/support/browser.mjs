import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import chromium from '@sparticuz/chromium';
import { chromium as driver } from 'playwright-core';

const flags = JSON.parse(readFileSync(join(import.meta.dirname, '../../test/support/chromium-flags.json'), 'utf8'));

/** Lets `use` work with a page of a browser that was let in by this link; what was fetched for that is not kept. */
export async function withPage(loginLink, use) {
  const browser = await driver.launch({ executablePath: await chromium.executablePath(), args: flags });
  try {
    const entrance = await browser.newContext();
    const door = await entrance.newPage();
    await door.goto(loginLink);
    await door.getByRole('textbox', { name: 'Message' }).waitFor();
    const storageState = await entrance.storageState();
    await entrance.close();
    const context = await browser.newContext({ storageState, viewport: { width: 1280, height: 800 } });
    return await use(await context.newPage());
  } finally {
    await browser.close();
  }
}
