import { appendFileSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { homeWithCommands } from '../support/agent/extensions.ts';
import { newGate, newHome } from '../support/agent/test-agent.ts';
import { openTab, useBrowser } from '../support/page/browser.ts';
import { waitForCondition } from '../support/page/conversation-view.ts';
import { visibleText } from '../support/page/export-page.ts';
import { messageBox, visitByLoginLink, waitForDraft } from '../support/page/page-actions.ts';
import { servePage } from '../support/page/page-server.ts';
import { Traffic } from '../support/page/socket-frames.ts';
import { entry, storeShortSession } from '../support/sessions/stored-session.ts';

const { visit, open } = useBrowser();

const list = (page: Page) => page.getByRole('navigation', { name: 'Sessions' });
const row = (page: Page, name: string) =>
  list(page)
    .getByRole('listitem')
    .filter({ has: page.getByTitle(name, { exact: true }) });
const link = (page: Page, name: string) => row(page, name).getByRole('link');

/** Starts a session with a first message and returns its address. */
async function startSession(page: Page, text: string): Promise<string> {
  await page.getByRole('button', { name: 'New session', exact: true }).first().click();
  await page.waitForURL((url) => url.search === '');
  await sendMessage(page, text);
  await page.waitForURL(/\?session=/);
  await link(page, text).waitFor();
  return page.url();
}

async function sendMessage(page: Page, text: string): Promise<void> {
  await messageBox(page).fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

async function chooseAction(page: Page, name: string, action: string): Promise<void> {
  await link(page, name).hover();
  await page.getByRole('button', { name: `Actions for ${name}` }).click();
  await page.getByRole('menuitem', { name: action }).click();
}

it('the list shows the status of every session: running, waiting for the user, idle or none', async () => {
  const { home } = homeWithCommands({ ask: `await ctx.ui.confirm('Sure?', 'Really?');` });
  const gate = newGate();
  storeShortSession(home, 'old', 'An old one');
  const script = [
    { steps: [{ text: 'Well, ' }, { await: gate.path }, { text: 'done.' }], when: 'long' },
    { text: 'Yes.', when: '.', keep: true },
  ];
  const view = await visit((await servePage({ home, script })).loginLink);
  const { page } = view;

  await startSession(page, 'A short one');
  await row(page, 'A short one').getByRole('img', { name: 'Idle' }).waitFor();
  await startSession(page, 'One that asks');
  await sendMessage(page, '/ask');
  await row(page, 'One that asks').getByText('Waiting for you').waitFor();
  await startSession(page, 'A long one');
  await row(page, 'A long one').getByRole('img', { name: 'Running' }).waitFor();
  await page.getByRole('button', { name: 'New session', exact: true }).click();
  await row(page, 'A short one').getByRole('img', { name: 'Idle' }).waitFor();
  const [running, waiting, old] = await Promise.all(
    ['A long one', 'One that asks', 'An old one'].map((name) => row(page, name).getByRole('img').count()),
  );
  const current = await page.locator('[aria-current="page"]').count();
  gate.open();

  await row(page, 'A long one').getByRole('img', { name: 'Not read yet' }).waitFor();
  await link(page, 'A long one').click();
  await row(page, 'A long one').getByRole('img', { name: 'Idle' }).waitFor();
  expect([running, waiting, old, current]).toEqual([1, 0, 0, 0]);
  expect(await visibleText(page.locator('[aria-current="page"]'))).toContain('A long one');
  expect(view.complaints).toEqual([]);
});

it('every session has its own address, which Back, Forward and a reload restore', async () => {
  const server = await servePage();
  const { page, complaints } = await visit(server.loginLink);
  const showing = async (shown: Page, name: string, answer: string) => {
    await shown.locator('[aria-current="page"]').getByText(name).waitFor();
    await shown.getByRole('main').getByText(answer, { exact: true }).waitFor();
  };

  const one = await startSession(page, 'Say one');
  const two = await startSession(page, 'Say two');
  await page.goBack();
  await showing(page, 'Say one', 'one');
  const back = page.url();
  await page.goForward();
  await showing(page, 'Say two', 'two');
  const forward = page.url();
  await page.reload();
  await showing(page, 'Say two', 'two');
  const other = await openTab({ page, complaints }, one);
  await showing(other.page, 'Say one', 'one');

  expect([back, forward, page.url()]).toEqual([one, two, two]);
  expect(await link(page, 'Say one').getAttribute('href')).toBe(new URL(one).search);
  expect(complaints).toEqual([]);
});

it('switching sessions before any has connected leaves no connection behind', async () => {
  const home = newHome();
  const names = ['One', 'Two', 'Three', 'Four'];
  for (const name of names) storeShortSession(home, name.toLowerCase(), name);
  const { page, complaints } = await visit((await servePage({ home })).loginLink);
  await link(page, 'Four').waitFor();

  // In one task, so that no socket opens meanwhile.
  await page.evaluate(`for (let round = 0; round < 3; round++) {
    for (const session of document.querySelectorAll('nav li a')) session.click();
  }`);
  const shown = list(page).locator('[aria-current="page"]');
  await shown.waitFor();
  await page.getByRole('main').getByText('Well.').waitFor();

  await waitForCondition(page, '/^tau_clients 1$/m.test(await (await fetch("metrics")).text())');
  expect(names).toContain(await shown.getAttribute('title'));
  expect(complaints).toEqual([]);
});

it('an unknown session is reported, with a button for a new one', async () => {
  const server = await servePage();
  const { page } = await visitByLoginLink(visit, server);
  await page.goto(`${server.address}?session=none`);

  await page.getByRole('heading', { name: 'There is no such session' }).waitFor();
  await page.getByText('Session not found: none').waitFor();
  const boxes = await messageBox(page).count();
  await page.getByRole('main').getByRole('button', { name: 'New session' }).click();
  await messageBox(page).waitFor();

  expect(boxes).toBe(0);
  expect(page.url()).toBe(server.address);
});

it('at the address of an unknown session, others can be renamed and deleted, and a failed export is reported', async () => {
  const home = newHome();
  const old = storeShortSession(home, 'old', 'An old one');
  storeShortSession(home, 'worn', 'A worn one');
  const server = await servePage({ home });
  const { page } = await visit(server.loginLink);
  // The login is complete when the list is there.
  await link(page, 'An old one').waitFor();
  await page.goto(`${server.address}?session=none`);
  await page.getByRole('heading', { name: 'There is no such session' }).waitFor();

  await chooseAction(page, 'An old one', 'Rename');
  await page.getByRole('textbox', { name: /New name for/ }).fill('An ancient one');
  await page.keyboard.press('Enter');
  await link(page, 'An ancient one').waitFor();
  await chooseAction(page, 'An ancient one', 'Delete');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText(`The session is in the trash now`).waitFor();
  await link(page, 'An ancient one').waitFor({ state: 'detached' });
  await page.route('**/api/exports/*', (route) => route.fulfill({ status: 404 }));
  await chooseAction(page, 'A worn one', 'Export');
  await page.getByRole('alert').getByText('The file is there no more').waitFor();

  expect(existsSync(old)).toBe(false);
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('There is no such session');
});

it('a failed export is reported in the session that is shown by then', async () => {
  const home = newHome();
  storeShortSession(home, 'old', 'An old one');
  const server = await servePage({ home });
  const { page } = await visit(server.loginLink);
  await startSession(page, 'Say hello');
  let fail = async () => {};
  await page.route('**/api/exports/*', (route) => {
    fail = () => route.fulfill({ status: 404 });
  });

  const requested = page.waitForRequest('**/api/exports/*');
  await chooseAction(page, 'An old one', 'Export');
  await requested;
  await link(page, 'An old one').click();
  await page.getByRole('main').getByText('Well.').waitFor();
  await fail();

  await page.getByRole('alert').getByText('The file is there no more').waitFor();
});

it('the field for a new name closes at once, also while the server does not respond', async () => {
  const home = newHome();
  storeShortSession(home, 'old', 'An old one');
  const { page, complaints } = await visit((await servePage({ home })).loginLink);
  const traffic = new Traffic();
  await traffic.watch(page);
  await page.reload();
  await startSession(page, 'Say hello');
  traffic.hold('"command":"rename_session"');
  const field = page.getByRole('textbox', { name: /New name for/ });

  await chooseAction(page, 'An old one', 'Rename');
  await field.fill('An ancient one');
  await page.keyboard.press('Enter');
  await field.waitFor({ state: 'detached' });
  traffic.release();

  await link(page, 'An ancient one').waitFor();
  expect(complaints).toEqual([]);
});

it('a session is renamed in its row, whether it is shown or not', async () => {
  const home = newHome();
  storeShortSession(home, 'old', 'An old one');
  const { page, complaints } = await visit((await servePage({ home })).loginLink);
  await startSession(page, 'Say hello');
  const field = page.getByRole('textbox', { name: /New name for/ });

  await chooseAction(page, 'An old one', 'Rename');
  await field.fill('Nothing');
  await page.keyboard.press('Escape');
  await link(page, 'An old one').waitFor();
  await chooseAction(page, 'An old one', 'Rename');
  await field.fill('An ancient one');
  await page.keyboard.press('Enter');
  await link(page, 'An ancient one').waitFor();
  await waitForCondition(page, "document.activeElement?.title === 'An ancient one'");
  await chooseAction(page, 'Say hello', 'Rename');
  await field.fill('Greetings');
  await page.keyboard.press('Enter');
  await link(page, 'Greetings').waitFor();
  await page.reload();

  await link(page, 'Greetings').waitFor();
  await link(page, 'An ancient one').waitFor();
  expect(complaints).toEqual([]);
});

it('a deleted session is moved to the trash, even if it is shown and running', async () => {
  const home = newHome();
  const old = storeShortSession(home, 'old', 'An old one');
  const script = [{ steps: [{ text: 'Well, ' }, { stall: true }] }];
  const { page, complaints } = await visit((await servePage({ home, script })).loginLink);
  const running = await startSession(page, 'A long one');
  await messageBox(page).fill('half a sen');
  await row(page, 'A long one').getByRole('img', { name: 'Running' }).waitFor();
  const dialog = page.getByRole('dialog', { name: 'Delete this session?' });

  await chooseAction(page, 'An old one', 'Delete');
  await dialog.getByText(join(dirname(old), '.trash')).waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  const kept = existsSync(old);
  await chooseAction(page, 'An old one', 'Delete');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await link(page, 'An old one').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Session', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await dialog.getByText('A long one').waitFor();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No sessions yet.').waitFor();

  expect(kept).toBe(true);
  expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('half a sen');
  expect(readdirSync(join(dirname(old), '.trash'))).toHaveLength(2);
  expect(page.url()).not.toBe(running);
  await startSession(page, 'Say that it goes on');
  expect(complaints).toEqual([]);
});

it('deleting the shown session opens a new one with default settings', async () => {
  const home = newHome();
  const { page, complaints } = await visit((await servePage({ home })).loginLink);
  await startSession(page, 'Say hello');
  const model = page.getByRole('button', { name: /^Model/ });
  const usual = await visibleText(model);
  await sendMessage(page, '/model tau/scripted-small');
  await model.getByText('small').waitFor();
  const before = await page.evaluate('history.length');

  await chooseAction(page, 'Say hello', 'Delete');
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('status').getByText('The session is in the trash now.', { exact: true }).waitFor();

  await expect.poll(() => visibleText(model)).toBe(usual);
  expect(new URL(page.url()).searchParams.get('cwd')).toBe(home.cwd);
  expect(await page.evaluate('history.length')).toBe(before);
  expect(complaints).toEqual([]);
});

it('a session that another client has open is not deleted, and the reason is shown', async () => {
  const one = await visit((await servePage()).loginLink);
  const address = await startSession(one.page, 'Say hello');
  const other = await openTab(one, address);
  await link(other.page, 'Say hello').waitFor();
  await other.page.locator('[aria-current="page"]').waitFor();

  await chooseAction(one.page, 'Say hello', 'Delete');
  await one.page.getByRole('button', { name: 'Delete' }).click();

  await one.page.getByText('This session is open elsewhere, or at work.').waitFor();
  await one.page.getByRole('button', { name: 'Cancel' }).click();
  await one.page.waitForURL(address);
  await link(one.page, 'Say hello').waitFor();
});

it('the reason why a session is not deleted is also shown when deleting from its own menu', async () => {
  const one = await visit((await servePage()).loginLink);
  const address = await startSession(one.page, 'Say hello');
  const other = await openTab(one, address);
  await other.page.locator('[aria-current="page"]').waitFor();

  await one.page.getByRole('button', { name: 'Session', exact: true }).click();
  await one.page.getByRole('menuitem', { name: 'Delete' }).click();
  await one.page.getByRole('button', { name: 'Delete' }).click();

  await one.page.getByRole('dialog').getByText('This session is open elsewhere, or at work.').waitFor();
  await one.page.getByRole('button', { name: 'Cancel' }).click();
  await one.page.waitForURL(address);
});

it('a refused deletion returns to the session, even before the new one was drawn', async () => {
  const one = await visit((await servePage()).loginLink);
  const address = await startSession(one.page, 'Say hello');
  const other = await openTab(one, address);
  await other.page.locator('[aria-current="page"]').waitFor();
  const before = await one.page.evaluate('history.length');

  await chooseAction(one.page, 'Say hello', 'Delete');
  await one.page.evaluate(
    'atOnce = requestAnimationFrame; held = []; requestAnimationFrame = (draw) => held.push(draw)',
  );
  await one.page.getByRole('button', { name: 'Delete' }).click();
  await one.page.getByText('This session is open elsewhere, or at work.').waitFor();
  await one.page.evaluate('requestAnimationFrame = atOnce; for (const draw of held) draw(0)');
  await one.page.getByRole('button', { name: 'Cancel' }).click();

  await one.page.waitForURL(address);
  await one.page.getByRole('main').getByText('hello', { exact: true }).waitFor();
  expect(await one.page.evaluate('history.length')).toBe(before);
});

it('Back skips a deleted session', async () => {
  const { page, complaints } = await visit((await servePage()).loginLink);
  const first = await startSession(page, 'Say one');
  const traffic = new Traffic();
  await traffic.watch(page);
  traffic.hold('"command":"new_session"');
  await page.reload();
  await page.getByRole('main').getByText('one', { exact: true }).waitFor();
  const second = await startSession(page, 'Say two');

  await chooseAction(page, 'Say two', 'Delete');
  await page.getByRole('button', { name: 'Delete' }).click();
  // The new session is drawn before the response arrives.
  await page.waitForURL((url) => url.href !== second);
  traffic.release();
  await link(page, 'Say two').waitFor({ state: 'detached' });
  await page.goBack();

  await page.waitForURL(first);
  await page.getByRole('main').getByText('one', { exact: true }).waitFor();
  expect(complaints).toEqual([]);
});

it('a clone is another session with its own address; Back leads to the original', async () => {
  const home = newHome();
  storeShortSession(home, 'old', 'An old one');
  const { page, complaints } = await visit((await servePage({ home })).loginLink);
  const first = await startSession(page, 'Say hello');

  await chooseAction(page, 'Say hello', 'Clone');
  await page.waitForURL((url) => url.href !== first);
  await link(page, 'Say hello').nth(1).waitFor();
  const second = page.url();
  await page.goBack();
  await page.waitForURL(first);
  await page.getByRole('main').getByText('hello', { exact: true }).waitFor();
  await chooseAction(page, 'An old one', 'Clone');
  await page.waitForURL((url) => ![first, second, new URL('?session=old', first).href].includes(url.href));
  await link(page, 'An old one').nth(1).waitFor();

  expect(await list(page).getByRole('listitem').count()).toBe(4);
  expect(await list(page).getByRole('img', { name: 'From another session' }).count()).toBe(2);
  expect(complaints).toEqual([]);
});

it('a fork has the messages before the chosen one, and the chosen one in its box', async () => {
  const { page, complaints } = await visit((await servePage()).loginLink);
  const first = await startSession(page, 'say one');
  await page.getByRole('main').getByText('one', { exact: true }).waitFor();
  await sendMessage(page, 'say two');
  await page.getByRole('main').getByText('two', { exact: true }).waitFor();
  const fork = async (at: number) => {
    const forkButton = page.getByRole('button', { name: 'Fork from here' }).nth(at);
    await forkButton.focus();
    await page.keyboard.press('Enter');
  };

  await fork(1);
  await page.waitForURL((url) => url.href !== first);
  await page.getByRole('main').getByText('two', { exact: true }).waitFor({ state: 'detached' });
  await waitForDraft(page, 'say two');
  const kept = await visibleText(page.getByRole('main'));
  await page.reload();
  await waitForDraft(page, 'say two');
  await page.goBack();
  await page.getByRole('main').getByText('two', { exact: true }).waitFor();
  await fork(0);
  await page.waitForURL(/\?cwd=/);
  await waitForDraft(page, 'say one');

  expect(kept).toContain('one');
  expect(complaints).toEqual([]);
});

it('an export is downloaded under the name of its session and opens from disk', async () => {
  const home = newHome();
  storeShortSession(home, 'old', 'Is it old?');
  const { page, complaints } = await visit((await servePage({ home })).loginLink);
  await startSession(page, 'Say hello');
  const exported = async (name: string) => {
    const [download] = await Promise.all([page.waitForEvent('download'), chooseAction(page, name, 'Export')]);
    const file = join(home.root, download.suggestedFilename());
    await download.saveAs(file);
    return { name: download.suggestedFilename(), view: await open(file) };
  };

  const current = await exported('Say hello');
  const other = await exported('Is it old?');
  await other.view.page.getByRole('main').getByText('Well.').waitFor();
  await current.view.page.getByRole('main').getByText('hello', { exact: true }).waitFor();

  expect([current.name, other.name]).toEqual(['Say hello.html', 'Is it old.html']);
  expect(complaints).toEqual([]);
});

it('sessions are found by name, first words and folder, also those that are not loaded yet', async () => {
  const home = newHome();
  // No folder name contains a #.
  for (let number = 0; number < 230; number++) storeShortSession(home, `s${number}`, `Number #${number}`);
  const { page, complaints } = await visit((await servePage({ home })).loginLink);
  const rows = list(page).getByRole('listitem');
  const filter = page.getByRole('searchbox', { name: 'Filter sessions' });
  await rows.nth(199).waitFor();
  const first = await rows.count();

  await filter.fill('number #22');
  await row(page, 'Number #22').waitFor();
  const found = await rows.count();
  await filter.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  const focused = await page.evaluate('document.activeElement.title');
  await filter.fill('nothing like it');
  await page.getByText('No session has these words in its name, its first words or its folder.').waitFor();
  await filter.press('Escape');
  await rows.nth(199).waitFor();
  await filter.fill('project');
  await page.getByRole('button', { name: 'Show older sessions' }).click();
  await rows.nth(229).waitFor();

  expect([first, found]).toEqual([200, 11]);
  expect(focused).toMatch(/^Number #22/);
  expect(complaints).toEqual([]);
});

it('older sessions are found after a slow or failed request', async () => {
  const home = newHome();
  for (let number = 0; number < 230; number++) storeShortSession(home, `s${number}`, `Number #${number}`);
  const { page } = await visit((await servePage({ home })).loginLink);
  const filter = page.getByRole('searchbox', { name: 'Filter sessions' });
  const rows = list(page).getByRole('listitem');
  await rows.nth(199).waitFor();
  const unknown = await page.locator('.session-row > a').evaluateAll((links) => {
    const known = new Set(links.map((one) => (one as HTMLElement).title));
    return Array.from({ length: 230 }, (_, number) => `Number #${number}`).find((name) => !known.has(name)) ?? '';
  });
  let type = () => {};
  const isTyped = new Promise<void>((typed) => {
    type = typed;
  });
  await page.route('**/api/sessions*', async (route) => {
    await isTyped;
    await route.continue();
  });

  await page.reload();
  await filter.fill(unknown);
  type();
  await row(page, unknown).waitFor();
  await page.unroute('**/api/sessions*');
  await page.route('**/api/sessions*cursor*', (route) => route.abort());
  await page.reload();
  await rows.nth(199).waitFor();
  await filter.fill(unknown);
  await page.getByText('The sessions could not be loaded.').waitFor();
  const claimsNoMatch = await page
    .getByText('No session has these words in its name, its first words or its folder.')
    .isVisible();
  await page.unroute('**/api/sessions*cursor*');
  await list(page).getByRole('button', { name: 'Retry' }).click();

  await row(page, unknown).waitFor();
  expect(claimsNoMatch).toBe(false);
});

it('changes by other programs to sessions far down the list are shown', async () => {
  const home = newHome();
  const paths = Array.from({ length: 230 }, (_, number) => storeShortSession(home, `s${number}`, `Number ${number}`));
  const { page, complaints } = await visit((await servePage({ home })).loginLink);
  const rows = list(page).getByRole('listitem');
  await rows.nth(199).waitFor();
  await page.getByRole('button', { name: 'Show older sessions' }).click();
  await rows.nth(229).waitFor();
  const [renamed = '', deleted = ''] = paths;

  appendFileSync(renamed, `${JSON.stringify(entry('session_info', 'n', 'm', { name: 'The first of all' }))}\n`);
  rmSync(deleted);

  await rows.first().getByTitle('The first of all', { exact: true }).waitFor();
  await row(page, 'Number 1').waitFor({ state: 'detached' });
  expect(await row(page, 'Number 0').count()).toBe(0);
  expect(await rows.count()).toBe(229);
  expect(complaints).toEqual([]);
});

const middleOf = async (locator: Locator) => {
  const { y, height } = (await locator.boundingBox()) ?? { y: Number.NaN, height: 0 };
  return y + height / 2;
};

it('sessions are grouped by day, or by folder if chosen', async () => {
  const home = newHome();
  storeShortSession(home, 'old', 'An old one');
  const { page } = await visit((await servePage({ home })).loginLink);
  await startSession(page, 'Say hello');
  const groups = () => list(page).getByRole('heading').allInnerTexts();
  await link(page, 'An old one').waitFor();

  const days = await groups();
  await page.getByRole('button', { name: 'More about sessions' }).click();
  await page.getByRole('menuitem', { name: 'Group by folder' }).click();
  await page.reload();
  await link(page, 'An old one').waitFor();

  expect(days).toEqual(['Today']);
  expect(await groups()).toEqual(['project']);
  const old = row(page, 'An old one');
  // Grouped by folder, each row is one line without the folder.
  expect(Math.abs((await middleOf(old.locator('time'))) - (await middleOf(old.getByText('An old one'))))).toBeLessThan(
    2,
  );
});

it('a session list that fails to load is reported with a Retry button', async () => {
  const home = newHome();
  storeShortSession(home, 'old', 'An old one');
  const server = await servePage({ home });
  const { page } = await visit(server.loginLink);
  await link(page, 'An old one').waitFor();
  await page.route('**/api/sessions*', (route) => route.abort());

  // Without a session, only the button requests the list at once.
  await page.goto(`${server.address}?session=none`);
  await page.getByRole('heading', { name: 'There is no such session' }).waitFor();
  await page.getByText('The sessions could not be loaded. The server does not answer.').waitFor();
  await page.unroute('**/api/sessions*');
  await list(page).getByRole('button', { name: 'Retry' }).click();

  await link(page, 'An old one').waitFor();
});

it('on a phone the session list lies over the page until a session is chosen', async () => {
  const home = newHome();
  storeShortSession(home, 'old', 'An old one');
  const server = await servePage({ home });
  const view = await visitByLoginLink(visit, server, { width: 390, height: 844 });
  const { page } = view;
  await page.goto(`${server.address}?session=none`);
  const openList = page.getByRole('button', { name: 'Sessions' });
  const drawer = page.getByRole('dialog', { name: 'Sessions' });

  await openList.click();
  await drawer.waitFor();
  await page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'detached' });
  await openList.click();
  for (let stops = 0; stops < 30; stops++) await page.keyboard.press('Tab');
  const isInside = await page.evaluate("document.querySelector('dialog').contains(document.activeElement)");
  await page.mouse.click(380, 400);
  await drawer.waitFor({ state: 'detached' });
  await openList.click();
  await link(page, 'An old one').click();
  await drawer.waitFor({ state: 'detached' });
  await page.waitForURL(/\?session=old/);

  expect(isInside).toBe(true);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  expect(view.complaints).toEqual([]);
});

it('every address works below a base path', async () => {
  const server = await servePage({ args: ['--base-path', '/tools/tau'] });
  const { page, complaints } = await visit(server.loginLink);
  const address = await startSession(page, 'say hello');

  const [download] = await Promise.all([page.waitForEvent('download'), chooseAction(page, 'say hello', 'Export')]);
  await chooseAction(page, 'say hello', 'Clone');
  await page.waitForURL((url) => url.href !== address);
  await link(page, 'say hello').nth(1).click();
  await page.waitForURL(address);
  await page.getByRole('button', { name: 'More about sessions' }).click();
  await page.getByRole('menuitem', { name: 'New session in a folder…' }).click();
  await page.getByRole('button', { name: 'Begin here' }).click();
  await page.waitForURL(/\?cwd=/);
  await page.reload();
  await link(page, 'say hello').first().waitFor();
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('Token').waitFor();

  expect(server.address).toMatch(/\/tools\/tau\/$/);
  expect(address).toContain(`${server.address}?session=`);
  expect(download.suggestedFilename()).toBe('say hello.html');
  expect(complaints.filter((complaint) => !complaint.includes('401'))).toEqual([]);
});
