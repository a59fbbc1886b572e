import { expect, it } from 'vitest';
import { newHome } from '../support/agent/test-agent.ts';
import { openTab, useBrowser } from '../support/page/browser.ts';
import { waitForCondition } from '../support/page/conversation-view.ts';
import { visibleText } from '../support/page/export-page.ts';
import { createToken, logIn, messageBox } from '../support/page/page-actions.ts';
import { type PageServer, servePage, submitPrompt } from '../support/page/page-server.ts';
import { runTau } from '../support/processes/program.ts';
import { shortConversation as stored, storeSession } from '../support/sessions/stored-session.ts';

const { visit } = useBrowser();

async function visitWithToken(server: PageServer, token: string) {
  const view = await visit(server.address);
  await view.page.getByLabel('Token').fill(token);
  await view.page.getByRole('button', { name: 'Log in' }).click();
  return view;
}

it('a login link works once, and its code is removed from the address bar', async () => {
  const server = await servePage();

  const first = await visit(server.loginLink);
  await first.page.getByText('No sessions yet.').waitFor();
  const second = await visit(server.loginLink);
  await second.page.getByText('This login link was used already, or is too old.').waitFor();
  await first.page.goto(server.loginLink);
  await first.page.waitForURL(server.address);
  await first.page.getByText('Logged in as owner').waitFor();

  expect([first.page.url(), second.page.url()]).toEqual([server.address, server.address]);
  expect(await visibleText(second.page.locator('form'))).toContain('tau token create');
  expect(first.complaints.filter((complaint) => !complaint.includes('401'))).toEqual([]);
});

it('a valid token logs a browser in, an invalid token does not', async () => {
  const server = await servePage();
  const { page } = await visitWithToken(server, 'wrong');

  await page.getByText('This code or token is not valid, or no longer').waitFor();
  await logIn(page, await createToken(server, 'view,prompt'));

  await page.getByText('Logged in as guest').waitFor();
  await messageBox(page).waitFor();
});

it('a view-only login can choose a session, but cannot start or change one', async () => {
  const home = newHome();
  storeSession(home, stored(home.cwd));
  const server = await servePage({ home });
  const { page } = await visitWithToken(server, await createToken(server, 'view'));
  const sockets: string[] = [];
  page.on('websocket', (socket) => sockets.push(socket.url()));

  await page.getByRole('heading', { name: 'Choose a session' }).waitFor();
  const list = page.getByRole('navigation', { name: 'Sessions' });
  await list.getByRole('link', { name: 'first' }).waitFor();
  const socketsBefore = [...sockets];
  await list.getByRole('link', { name: 'first' }).click();
  await page.getByText('This login may only look.').waitFor();

  expect(socketsBefore).toEqual([]);
  expect(await list.getByRole('button').allInnerTexts()).not.toContain('New session');
  expect(await page.getByRole('button', { name: 'Actions for first' }).count()).toBe(0);
  expect(await page.getByRole('textbox').count()).toBe(0);
  expect(page.url()).toBe(`${server.address}?session=stored-1`);
  await page.goBack();
  await page.getByRole('heading', { name: 'Choose a session' }).waitFor();
});

it('revoking a token disconnects its pages and shows the login form', async () => {
  const server = await servePage();
  const { page } = await visitWithToken(server, await createToken(server, 'view,prompt'));
  await messageBox(page).waitFor();

  await runTau(server.home, ['token', 'revoke', 'guest']);

  await page.getByText('Invalid authentication token').waitFor();
  await page.getByLabel('Token').waitFor();
});

it('logging out ends the login of this browser and shows the login form', async () => {
  const server = await servePage();
  const { page } = await visit(server.loginLink);

  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('Token').waitFor();
  await page.goto(server.address);

  await page.getByLabel('Token').waitFor();
});

it('logging out removes everything but the theme from the browser storage', async () => {
  const { page } = await visit((await servePage()).loginLink);
  await submitPrompt(page, 'say hello');
  await page.waitForURL(/session=/);
  const kept = () => page.evaluate<string[]>('Object.keys(localStorage)');
  await waitForCondition(page, `localStorage.getItem('tau-seen') !== null`);
  await messageBox(page).fill('for no other eyes');
  await page.reload();
  await waitForCondition(page, `document.querySelector('[aria-label="Message"]')?.value === 'for no other eyes'`);
  const before = await kept();
  await messageBox(page).press('!');

  const loaded = page.waitForEvent('load');
  await page.getByRole('button', { name: 'Log out' }).click();
  await loaded;
  await page.getByLabel('Token').waitFor();

  expect(before.map((key) => key.replace(/:.*/, '')).sort()).toEqual(['tau-draft', 'tau-seen', 'tau-theme']);
  expect(await kept()).toEqual(['tau-theme']);
});

it('logging in again in one tab resumes all tabs and keeps their drafts', async () => {
  const server = await servePage();
  const token = await createToken(server, 'view,prompt');
  const view = await visitWithToken(server, token);
  const { page } = view;
  await submitPrompt(page, 'say hello');
  await page.getByRole('main').getByText('hello', { exact: true }).waitFor();
  await messageBox(page).fill('Half a sen');
  await page.evaluate('window.isTheSame = true');

  const other = await openTab(view);
  await other.page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('Token').waitFor();
  await logIn(other.page, token);
  await other.page.getByText('Logged in as guest').waitFor();

  await page.getByRole('main').getByText('hello', { exact: true }).waitFor();
  expect(await messageBox(page).inputValue()).toBe('Half a sen');
  expect(await page.evaluate('window.isTheSame')).toBe(true);
  await submitPrompt(page, 'say that it goes on');
  await page.getByRole('main').getByText('that it goes on', { exact: true }).waitFor();
});

it('after logging in again in one tab, another tab shows its run and can stop it', async () => {
  const server = await servePage({ script: [{ text: 'Hello.' }, { steps: [{ text: 'Endless ' }, { stall: true }] }] });
  const token = await createToken(server, 'view,prompt');
  const view = await visitWithToken(server, token);
  const { page } = view;
  await messageBox(page).waitFor();
  await submitPrompt(page, 'Go');
  await page.getByRole('main').getByText('Hello.').waitFor();
  const other = await openTab(view);
  await other.page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('Token').waitFor();
  await logIn(other.page, token);
  await page.getByRole('main').getByText('Hello.').waitFor();

  await submitPrompt(page, 'Go on');
  await page.getByText('Working…').waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();

  await page.getByRole('button', { name: 'Send' }).waitFor();
});

it('the login form keeps the chosen theme', async () => {
  const server = await servePage();
  const { page } = await visit(server.loginLink);
  const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
  const light = await background();

  await page.getByTitle('Dark colours').click();
  const dark = await background();
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('Token').waitFor();

  expect(dark).not.toBe(light);
  expect(await background()).toBe(dark);
});
