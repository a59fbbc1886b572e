import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { newHome, readSessionFile, sessionFiles } from '../support/agent/test-agent.ts';
import { useBrowser } from '../support/page/browser.ts';
import { messageBox } from '../support/page/page-actions.ts';
import { servePage } from '../support/page/page-server.ts';
import { shortConversation, storeSession } from '../support/sessions/stored-session.ts';

const { visit } = useBrowser();

const field = (page: Page) => page.getByRole('combobox', { name: 'Folder' });

/** A page with the folder sheet open, on a server whose folder has sub-folders. */
async function openFolderSheet() {
  const home = newHome();
  for (const name of ['alpha/inner', 'alps', 'beta', '.hidden/deep'])
    mkdirSync(join(home.cwd, name), { recursive: true });
  storeSession(home, shortConversation(join(home.cwd, 'beta')), { cwd: join(home.cwd, 'beta') });
  const view = await visit((await servePage({ home })).loginLink);
  const { page } = view;
  await page.getByRole('button', { name: 'More about sessions' }).click();
  await page.getByRole('menuitem', { name: 'New session in a folder…' }).click();
  await page.getByRole('option', { name: 'alps' }).waitFor();
  return { ...view, home };
}

it('a folder can be chosen by typing and with the arrow keys, and a session starts in it', async () => {
  const { page, home, complaints } = await openFolderSheet();
  const offered = await page.getByRole('option').allInnerTexts();

  await field(page).pressSequentially('al');
  const matching = await page.getByRole('option').allInnerTexts();
  await page.keyboard.press('Enter');
  await page.getByRole('option', { name: 'inner' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  const typed = await field(page).inputValue();
  await page.keyboard.press('Control+Enter');
  await page.waitForURL(/\?cwd=/);
  await messageBox(page).fill('say hello');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.waitForURL(/\?session=/);

  expect(offered).toEqual(['Up', 'alpha', 'alps', 'beta']);
  expect(matching).toEqual(['alpha', 'alps']);
  expect(typed).toBe(join(home.cwd, 'alpha/inner/'));
  const cwds = sessionFiles(home).map((path) => readSessionFile(path)[0].cwd);
  expect(cwds).toContain(join(home.cwd, 'alpha/inner'));
  expect(complaints).toEqual([]);
});

it('the folders of earlier sessions and the parent folder are one click away', async () => {
  const { page, home } = await openFolderSheet();

  await page.getByRole('list', { name: 'Folders of earlier sessions' }).getByRole('button', { name: 'beta' }).click();
  await page.getByRole('option', { name: 'alps' }).waitFor({ state: 'hidden' });
  const below = await field(page).inputValue();
  await page.getByRole('option', { name: 'Up' }).click();
  await page.getByRole('option', { name: 'alps' }).waitFor();
  const above = await field(page).inputValue();
  await page.getByRole('button', { name: 'Begin here' }).click();
  await page.waitForURL(/\?cwd=/);

  expect([below, above]).toEqual([join(home.cwd, 'beta/'), join(home.cwd, '/')]);
  expect(new URL(page.url()).searchParams.get('cwd')).toBe(home.cwd);
});

it('hidden folders are listed after typing a dot, and a missing folder is reported', async () => {
  const { page, home, complaints } = await openFolderSheet();

  await field(page).pressSequentially('.hid');
  await page.getByRole('option', { name: '.hidden' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('option', { name: 'deep' }).waitFor();
  await field(page).fill(join(home.cwd, 'nothing/at/all'));
  await page.getByText(`There is no such folder: ${join(home.cwd, 'nothing/at/')}`).waitFor();
  await page.getByRole('button', { name: 'Begin here' }).click();
  await page.getByText(`There is no such folder: ${join(home.cwd, 'nothing/at/all')}`).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });

  expect(new URL(page.url()).search).toBe('');
  expect(complaints.filter((complaint) => !complaint.includes('404'))).toEqual([]);
});

it('a folder is requested once while names in it are typed', async () => {
  const { page } = await openFolderSheet();
  const requested: string[] = [];
  page.on('request', (request) => request.url().includes('/api/folders') && requested.push(request.url()));

  await field(page).pressSequentially('alp');
  await page.keyboard.press('Backspace');
  await page.keyboard.press('ArrowDown');
  await field(page).pressSequentially('ps/');
  await page.getByRole('option', { name: 'alps' }).waitFor({ state: 'detached' });

  expect(requested.map((url) => new URL(url).searchParams.get('path')?.split('/').slice(-2))).toEqual([['alps', '']]);
});

it('closing the sheet while the server is slow starts no session', async () => {
  const { page, complaints } = await openFolderSheet();
  const address = page.url();
  let respond = async () => {};
  await page.route('**/api/folders*', (route) => {
    respond = () => route.continue();
  });

  const requested = page.waitForRequest('**/api/folders*');
  await page.getByRole('button', { name: 'Begin here' }).click();
  await requested;
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  const response = page.waitForResponse('**/api/folders*');
  await respond();
  await (await response).finished();
  await page.evaluate('fetch("api/me").then((response) => response.text())');

  expect(page.url()).toBe(address);
  expect(complaints).toEqual([]);
});
