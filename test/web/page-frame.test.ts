import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { useBrowser } from '../support/page/browser.ts';
import { messageBox } from '../support/page/page-actions.ts';
import { servePage, submitPrompt } from '../support/page/page-server.ts';

const { visit } = useBrowser();

const list = (page: Page) => page.getByRole('region', { name: 'Conversation' });

it.each([
  { width: 640, height: 240 },
  { width: 844, height: 200 },
  { width: 1280, height: 300 },
])('in a window of $width × $height the conversation takes at least half of the height', async ({ width, height }) => {
  const { page, complaints } = await visit((await servePage()).loginLink, { width, height, hasTouch: width < 1000 });
  const send = page.getByRole('button', { name: 'Send' });
  await messageBox(page).fill('say hello');
  await send.click();
  await page.locator('main').getByText('hello', { exact: true }).waitFor();

  const tall = (await list(page).boundingBox())?.height ?? 0;
  const written = await messageBox(page).boundingBox();
  const beside = await send.boundingBox();

  expect(tall).toBeGreaterThanOrEqual(height / 2);
  expect((written?.y ?? 0) + (written?.height ?? 0)).toBeLessThanOrEqual(height);
  expect(beside?.x).toBeGreaterThan((written?.x ?? 0) + (written?.width ?? 0) - 1);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
  expect(complaints).toEqual([]);
});

it('printing lays out the rendered messages without the controls and names the export for the whole session', async () => {
  const text = Array.from({ length: 100 }, (_, at) => `Paragraph ${at}.`).join('\n\n');
  const { page } = await visit((await servePage({ script: [{ text }] })).loginLink);
  await submitPrompt(page, 'Go');
  await page.locator('main').getByText('Paragraph 99.').waitFor();

  await page.emulateMedia({ media: 'print' });

  await page.getByText('Export, in the menu of the session, has all of it.').waitFor();
  expect(await messageBox(page).isVisible()).toBe(false);
  expect(await page.getByRole('navigation', { name: 'Sessions' }).isVisible()).toBe(false);
  const { y = 0 } = (await page.getByText('Paragraph 99.').boundingBox()) ?? {};
  expect(y).toBeGreaterThan(2000);
  expect(await page.evaluate('document.documentElement.scrollHeight')).toBeGreaterThan(y);
});
