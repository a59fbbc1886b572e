import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { useBrowser } from '../support/page/browser.ts';
import { messageBox } from '../support/page/page-actions.ts';
import { servePage, submitPrompt } from '../support/page/page-server.ts';

const { visit } = useBrowser({ hasScrollbars: true });

const search = (page: Page) => page.getByRole('searchbox', { name: 'Search in the conversation' });

it('a sheet scrolls by its own scrollbar and closes on a click beside it', async () => {
  const { page } = await visit((await servePage()).loginLink, { width: 700, height: 420 });
  await messageBox(page).waitFor();
  await messageBox(page).blur();
  await page.keyboard.press('?');
  const sheet = page.getByRole('dialog', { name: 'Shortcuts' });
  await sheet.waitFor();
  const { x = 0, y = 0, width = 0 } = (await sheet.boundingBox()) ?? {};

  await page.mouse.move(x + width - 7, y + 60);
  await page.mouse.down();
  await page.mouse.move(x + width - 7, y + 160);
  await page.mouse.up();
  await expect.poll(() => sheet.evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(0);
  await page.mouse.click(x - 8, y + 60);

  await sheet.waitFor({ state: 'detached' });
});

it('an open search closes when a command opens another session', async () => {
  const { page, complaints } = await visit((await servePage()).loginLink);
  await submitPrompt(page, 'say hello');
  await page.waitForURL(/session=/);
  await page.keyboard.press('Control+f');
  await search(page).waitFor();

  await submitPrompt(page, '/new');
  await page.getByRole('heading', { name: 'New session', level: 1 }).waitFor();
  await submitPrompt(page, 'say goodbye');
  await page.locator('main').getByText('goodbye', { exact: true }).waitFor();

  await messageBox(page).and(page.locator(':focus')).waitFor();
  expect(await search(page).count()).toBe(0);
  expect(complaints).toEqual([]);
});

it('the search does not open behind a dialog', async () => {
  const { page } = await visit((await servePage()).loginLink);
  await submitPrompt(page, 'say hello');
  await page.waitForURL(/session=/);
  await page.getByRole('link', { name: /say hello/ }).hover();
  await page.getByRole('button', { name: /^Actions for/ }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete this session?' });
  await dialog.waitFor();

  await page.keyboard.press('Control+f');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  const behind = await search(page).count();
  await page.keyboard.press('Control+f');
  await search(page).waitFor();

  expect(behind).toBe(0);
});

it('a menu that is higher than the window scrolls', async () => {
  const { page } = await visit((await servePage()).loginLink, { width: 700, height: 220 });
  await submitPrompt(page, 'say hello');
  await page.waitForURL(/session=/);
  await page.getByRole('button', { name: 'Session', exact: true }).click();
  const menu = page.getByRole('menu', { name: 'Session' });
  await menu.waitFor();

  const { y = 0, height = 0 } = (await menu.boundingBox()) ?? {};
  await menu.getByRole('menuitem', { name: 'Delete' }).click();

  await page.getByRole('dialog', { name: 'Delete this session?' }).waitFor();
  expect(y + height).toBeLessThanOrEqual(220);
});

it('a menu that opens does not take the focus from an item that was focused meanwhile', async () => {
  const { page } = await visit((await servePage()).loginLink);
  const opener = page.getByRole('button', { name: 'More about sessions' });
  await opener.waitFor();

  // The toggle event follows some time after the menu opens.
  const chosen = await page.evaluate(`new Promise((resolve) => {
      const button = document.querySelector('[aria-label="More about sessions"]');
      const menu = document.getElementById(button.getAttribute('popovertarget'));
      let first;
      new MutationObserver(() => (first = menu.querySelector('button'))?.focus()).observe(menu, { childList: true });
      menu.addEventListener('toggle', () => resolve(document.activeElement === first));
      button.click();
    })`);

  expect(chosen).toBe(true);
});
