import { existsSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { useBrowser } from '../support/page/browser.ts';
import { homeWithCommands } from '../support/agent/extensions.ts';
import { newHome } from '../support/agent/test-agent.ts';
import { messageBox, visitByLoginLink } from '../support/page/page-actions.ts';
import { visitLockedSession, servePage } from '../support/page/page-server.ts';
import { Traffic } from '../support/page/socket-frames.ts';
import { waitForCondition } from '../support/page/conversation-view.ts';
import { storeShortSession } from '../support/sessions/stored-session.ts';

const { visit } = useBrowser();

const list = (page: Page) => page.getByRole('navigation', { name: 'Sessions' });
const link = (page: Page, name: string) => list(page).getByTitle(name, { exact: true });
const dialog = (page: Page) => page.getByRole('dialog', { name: 'Delete this session?' });

/** Asks for the session that is looked at to be deleted. */
async function askToDelete(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Session', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
}

it('whoever goes elsewhere after a yes has said yes', async () => {
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
  const asked = traffic.waitForFrame('"command":"new_session"');

  await askToDelete(page);
  await dialog(page).getByRole('button', { name: 'Delete' }).click();
  await asked;
  await page.keyboard.press('Escape');
  await link(page, 'Session B').click();
  await page.waitForURL(/session=b/);
  traffic.release();
  await page.getByText('The session is in the trash now.').waitFor();

  expect(existsSync(first)).toBe(false);
});

it('an extension that has to be asked first can be answered', async () => {
  const { home } = homeWithCommands(
    {},
    "pi.on('session_before_switch', async (_, ctx) => ({ cancel: !(await ctx.ui.confirm('Leave?', 'Sure?')) }));",
  );
  const path = storeShortSession(home, 'a', 'Session A');
  const server = await servePage({ home });
  const { page } = await visitByLoginLink(visit, server);
  await page.goto(`${server.address}?session=a`);
  await page.getByText('Well.').waitFor();

  await askToDelete(page);
  await dialog(page).getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'Leave?' }).waitFor();
  await dialog(page).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'No' }).click();
  await page.getByRole('alert').getByText('An extension did not allow it').waitFor();
  const stayed = existsSync(path);
  await askToDelete(page);
  await dialog(page).getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Yes' }).click();
  await page.getByText('The session is in the trash now.').waitFor();

  expect([stayed, existsSync(path)]).toEqual([true, false]);
});

it('the question goes with the session that it was asked in, and whoever says yes can go on writing', async () => {
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

  await askToDelete(page);
  await dialog(page).waitFor();
  await page.goBack();
  await dialog(page).waitFor({ state: 'detached' });
  await askToDelete(page);
  await dialog(page).getByText('Session A').waitFor();
  await dialog(page).getByRole('button', { name: 'Delete' }).click();
  await page.getByText('The session is in the trash now.').waitFor();
  await waitForCondition(page, "document.activeElement?.matches('.message-box')");

  await page.keyboard.type('on');
  expect(await messageBox(page).inputValue()).toBe('on');
});

it('others are renamed and deleted while the session that is looked at is open in another program', async () => {
  const home = newHome();
  storeShortSession(home, 'b', 'Session B');
  const gone = storeShortSession(home, 'c', 'Session C');
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

  expect(existsSync(gone)).toBe(false);
});
