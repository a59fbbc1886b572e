import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import chromium from '@sparticuz/chromium';
import { chromium as driver } from 'playwright-core';

const flags = JSON.parse(readFileSync(join(import.meta.dirname, '../../test/support/chromium-flags.json'), 'utf8'));

/** Calls `use` with a page that is logged in by this link; its cache starts empty. */
export async function withPage(loginLink, use) {
  const browser = await driver.launch({ executablePath: await chromium.executablePath(), args: flags });
  try {
    const loginContext = await browser.newContext();
    const loginPage = await loginContext.newPage();
    await loginPage.goto(loginLink);
    await loginPage.getByRole('textbox', { name: 'Message' }).waitFor();
    const storageState = await loginContext.storageState();
    await loginContext.close();
    const context = await browser.newContext({ storageState, viewport: { width: 1280, height: 800 } });
    return await use(await context.newPage());
  } finally {
    await browser.close();
  }
}
