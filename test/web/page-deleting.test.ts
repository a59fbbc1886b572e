import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { homeWithCommands } from '../support/agent/extensions.ts';
import { newGate, newHome } from '../support/agent/test-agent.ts';
import { openTab, useBrowser } from '../support/page/browser.ts';
import { waitForCondition } from '../support/page/conversation-view.ts';
import { messageBox, visitByLoginLink } from '../support/page/page-actions.ts';
import { servePage, submitPrompt, visitLockedSession } from '../support/page/page-server.ts';
import { Traffic } from '../support/page/socket-frames.ts';
import { storeShortSession } from '../support/sessions/stored-session.ts';

const { visit } = useBrowser();

const list = (page: Page) => page.getByRole('navigation', { name: 'Sessions' });
const link = (page: Page, name: string) => list(page).getByTitle(name, { exact: true });
const dialog = (page: Page) => page.getByRole('dialog', { name: 'Delete this session?' });

/** Opens the delete dialog of the open session. */
async function openDeleteDialog(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Session', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
}

it('a confirmed deletion completes after the user opens another session', async () => {
  const home = newHome();
  const first = storeShortSession(home, 'a', 'Session A');
  storeShortSession(home, 'b', 'Session B');
  const server = await servePage({ home });
  const { page } = await visitByLoginLink(visit, server);
  const traffic = new Traffic();
  await traffic.watch(page);
  await page.goto(`${server.address}?session=a`);
  await page.getByText('Well.').waitFor();
  traffic.hold('"command":"new_session"');
  const response = traffic.waitForFrame('"command":"new_session"');

  await openDeleteDialog(page);
  await dialog(page).getByRole('button', { name: 'Delete' }).click();
  await response;
  await page.keyboard.press('Escape');
  await link(page, 'Session B').click();
  await page.waitForURL(/session=b/);
  traffic.release();
  await page.getByText('The session is in the trash now.').waitFor();

  expect(existsSync(first)).toBe(false);
});

it('a dialog of session_before_switch decides whether the session is deleted', async () => {
  const { home } = homeWithCommands(
    {},
    "pi.on('session_before_switch', async (_, ctx) => ({ cancel: !(await ctx.ui.confirm('Leave?', 'Sure?')) }));",
  );
  const path = storeShortSession(home, 'a', 'Session A');
  const server = await servePage({ home });
  const { page } = await visitByLoginLink(visit, server);
  await page.goto(`${server.address}?session=a`);
  await page.getByText('Well.').waitFor();

  await openDeleteDialog(page);
  await dialog(page).getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'Leave?' }).waitFor();
  await dialog(page).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'No' }).click();
  await page.getByRole('alert').getByText('An extension did not allow it').waitFor();
  const stayed = existsSync(path);
  await openDeleteDialog(page);
  await dialog(page).getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Yes' }).click();
  await page.getByText('The session is in the trash now.').waitFor();

  expect([stayed, existsSync(path)]).toEqual([true, false]);
});

it('leaving a session closes its delete dialog, and a deletion moves the focus to the message box', async () => {
  const home = newHome();
  storeShortSession(home, 'a', 'Session A');
  storeShortSession(home, 'b', 'Session B');
  const server = await servePage({ home });
  const { page } = await visitByLoginLink(visit, server);
  await link(page, 'Session A').click();
  await page.waitForURL(/session=a/);
  await link(page, 'Session B').click();
  await page.waitForURL(/session=b/);
  await page.getByText('Well.').waitFor();

  await openDeleteDialog(page);
  await dialog(page).waitFor();
  await page.goBack();
  await dialog(page).waitFor({ state: 'detached' });
  await openDeleteDialog(page);
  await dialog(page).getByText('Session A').waitFor();
  await dialog(page).getByRole('button', { name: 'Delete' }).click();
  await page.getByText('The session is in the trash now.').waitFor();
  await waitForCondition(page, "document.activeElement?.matches('.message-box')");

  await page.keyboard.type('on');
  expect(await messageBox(page).inputValue()).toBe('on');
});

it('other sessions can be renamed and deleted while the open session is locked by another program', async () => {
  const home = newHome();
  storeShortSession(home, 'b', 'Session B');
  const deletedFile = storeShortSession(home, 'c', 'Session C');
  const { page } = await visitLockedSession(visit, home);
  const choose = async (name: string, action: string) => {
    await link(page, name).hover();
    await page.getByRole('button', { name: `Actions for ${name}` }).click();
    await page.getByRole('menuitem', { name: action }).click();
  };

  await choose('Session B', 'Rename');
  await page.getByRole('textbox', { name: 'New name for Session B' }).fill('Renamed');
  await page.keyboard.press('Enter');
  await link(page, 'Renamed').waitFor();
  await choose('Session C', 'Delete');
  await dialog(page).getByRole('button', { name: 'Delete' }).click();
  await link(page, 'Session C').waitFor({ state: 'detached' });

  expect(existsSync(deletedFile)).toBe(false);
});

/** A page and a second tab in the same session, whose run waits at the gate. */
async function runInTwoTabs() {
  const gate = newGate();
  const server = await servePage({
    script: [{ steps: [{ text: 'Well, ' }, { await: gate.path }, { text: 'done.' }] }],
  });
  const view = await visitByLoginLink(visit, server);
  const { page } = view;
  await submitPrompt(page, 'Go');
  await page.locator('main').getByText('Well,').waitFor();
  await page.waitForURL(/session=/);
  const other = (await openTab(view)).page;
  await other.locator('main').getByText('Well,').waitFor();
  return { page, other, gate };
}

it('[W131] a refused deletion of a session that is open in another tab keeps its run', async () => {
  const { page, other, gate } = await runInTwoTabs();

  await openDeleteDialog(page);
  await dialog(page).getByRole('button', { name: 'Delete', exact: true }).click();
  await dialog(page).getByRole('alert').getByText('open elsewhere').waitFor();
  await dialog(page).getByRole('button', { name: 'Cancel' }).click();
  gate.open();

  await page.locator('main').getByText('Well, done.').waitFor();
  await other.locator('main').getByText('Well, done.').waitFor();
});

it('[W131] "Delete anyway" stops the run and disconnects the other tab', async () => {
  const { page, other } = await runInTwoTabs();

  await openDeleteDialog(page);
  await dialog(page).getByRole('button', { name: 'Delete', exact: true }).click();
  await dialog(page).getByRole('button', { name: 'Delete anyway' }).click();

  await page.getByText('The session is in the trash now.').waitFor();
  await other.getByRole('heading', { name: 'There is no such session' }).waitFor();
  await page.getByRole('heading', { name: 'New session' }).waitFor();
});

it('[V52] a deleted session can be restored from its notice, and is opened again if it was open', async () => {
  const home = newHome();
  const path = storeShortSession(home, 'a', 'Session A');
  const other = storeShortSession(home, 'b', 'Session B');
  const server = await servePage({ home });
  const { page, complaints } = await visitByLoginLink(visit, server);
  await page.goto(`${server.address}?session=a`);
  await page.getByText('Well.').waitFor();
  const undo = page.getByRole('status').getByRole('button', { name: 'Undo' });

  await openDeleteDialog(page);
  await dialog(page).getByRole('button', { name: 'Delete' }).click();
  await undo.waitFor();
  await link(page, 'Session A').waitFor({ state: 'detached' });
  const wasDeleted = !existsSync(path);
  await undo.click();
  await page.waitForURL(/session=a/);
  await page.getByText('Well.').waitFor();
  await link(page, 'Session A').waitFor();
  await undo.waitFor({ state: 'detached' });

  await link(page, 'Session B').hover();
  await page.getByRole('button', { name: 'Actions for Session B' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await dialog(page).getByRole('button', { name: 'Delete' }).click();
  await link(page, 'Session B').waitFor({ state: 'detached' });
  await undo.click();
  await link(page, 'Session B').waitFor();

  expect([wasDeleted, existsSync(path), existsSync(other)]).toEqual([true, true, true]);
  expect(page.url()).toContain('session=a');
  expect(complaints).toEqual([]);
});

it('[V52] an undo that fails is reported', async () => {
  const home = newHome();
  const path = storeShortSession(home, 'a', 'Session A');
  const { page } = await visitByLoginLink(visit, await servePage({ home }));
  await link(page, 'Session A').hover();
  await page.getByRole('button', { name: 'Actions for Session A' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await dialog(page).getByRole('button', { name: 'Delete' }).click();
  const undo = page.getByRole('button', { name: 'Undo' });
  await undo.waitFor();
  rmSync(join(dirname(path), '.trash'), { recursive: true });

  await undo.click();

  await page.getByRole('alert').filter({ hasText: 'Session not found' }).waitFor();
});
