import { expect, it } from 'vitest';
import { openTab, useBrowser } from '../support/page/browser.ts';
import { runTau } from '../support/processes/program.ts';
import { visibleText } from '../support/page/export-page.ts';
import { newHome } from '../support/agent/test-agent.ts';
import { messageBox, logIn, createToken } from '../support/page/page-actions.ts';
import { type PageServer, submitPrompt, servePage } from '../support/page/page-server.ts';
import { waitForCondition } from '../support/page/conversation-view.ts';
import { storeSession, shortConversation as stored } from '../support/sessions/stored-session.ts';

const { visit } = useBrowser();

async function comeWith(server: PageServer, token: string) {
  const view = await visit(server.address);
  await view.page.getByLabel('Token').fill(token);
  await view.page.getByRole('button', { name: 'Log in' }).click();
  return view;
}

it('a login link leads to the page, once, and its code does not stay in the address bar', async () => {
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

it('a token lets a browser in, too, but not a wrong one', async () => {
  const server = await servePage();
  const { page } = await comeWith(server, 'wrong');

  await page.getByText('This code or token is not valid, or no longer').waitFor();
  await logIn(page, await createToken(server, 'view,prompt', 'phone'));

  await page.getByText('Logged in as phone').waitFor();
  await messageBox(page).waitFor();
});

it('whoever may only look chooses a session, and nothing is begun or changed for them', async () => {
  const home = newHome();
  storeSession(home, stored(home.cwd));
  const server = await servePage({ home });
  const { page } = await comeWith(server, await createToken(server, 'view', 'eye'));
  const sockets: string[] = [];
  page.on('websocket', (socket) => sockets.push(socket.url()));

  await page.getByRole('heading', { name: 'Choose a session' }).waitFor();
  const list = page.getByRole('navigation', { name: 'Sessions' });
  await list.getByRole('link', { name: 'first' }).waitFor();
  const untouched = [...sockets];
  await list.getByRole('link', { name: 'first' }).click();
  await page.getByText('This login may only look.').waitFor();

  expect(untouched).toEqual([]);
  expect(await list.getByRole('button').allInnerTexts()).not.toContain('New session');
  expect(await page.getByRole('button', { name: 'Actions for first' }).count()).toBe(0);
  expect(await page.getByRole('textbox').count()).toBe(0);
  expect(page.url()).toBe(`${server.address}?session=stored-1`);
  await page.goBack();
  await page.getByRole('heading', { name: 'Choose a session' }).waitFor();
});

it('a token that is taken back ends what is open, and the page asks for another', async () => {
  const server = await servePage();
  const { page } = await comeWith(server, await createToken(server, 'view,prompt', 'phone'));
  await messageBox(page).waitFor();

  await runTau(server.home, ['token', 'revoke', 'phone']);

  await page.getByText('Invalid authentication token').waitFor();
  await page.getByLabel('Token').waitFor();
});

it('logging out ends the login of this browser, and leaves the form', async () => {
  const server = await servePage();
  const { page } = await visit(server.loginLink);

  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('Token').waitFor();
  await page.goto(server.address);

  await page.getByLabel('Token').waitFor();
});

it('whoever logs out leaves nothing to read in the browser, but the colours', async () => {
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

  const anew = page.waitForEvent('load');
  await page.getByRole('button', { name: 'Log out' }).click();
  await anew;
  await page.getByLabel('Token').waitFor();

  expect(before.map((key) => key.replace(/:.*/, '')).sort()).toEqual(['tau-draft', 'tau-seen', 'tau-theme']);
  expect(await kept()).toEqual(['tau-theme']);
});

it('whoever logs in again in another tab goes on in all of them, with what was being written', async () => {
  const server = await servePage();
  const token = await createToken(server, 'view,prompt', 'phone');
  const view = await comeWith(server, token);
  const { page } = view;
  await submitPrompt(page, 'say hello');
  await page.getByRole('main').getByText('hello', { exact: true }).waitFor();
  await messageBox(page).fill('Half a sen');
  await page.evaluate('window.isTheSame = true');

  const other = await openTab(view);
  await other.page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('Token').waitFor();
  await logIn(other.page, token);
  await other.page.getByText('Logged in as phone').waitFor();

  await page.getByRole('main').getByText('hello', { exact: true }).waitFor();
  expect(await messageBox(page).inputValue()).toBe('Half a sen');
  expect(await page.evaluate('window.isTheSame')).toBe(true);
  await submitPrompt(page, 'say that it goes on');
  await page.getByRole('main').getByText('that it goes on', { exact: true }).waitFor();
});

it('whoever logs in again in another tab sees what runs in all of them, and can stop it', async () => {
  const server = await servePage({ script: [{ text: 'Hello.' }, { steps: [{ text: 'Endless ' }, { stall: true }] }] });
  const token = await createToken(server, 'view,prompt', 'phone');
  const view = await comeWith(server, token);
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

it('the colours that were chosen stay, also for the login form', async () => {
  const server = await servePage();
  const { page } = await visit(server.loginLink);
  const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
  const light = await ground();

  await page.getByTitle('Dark colours').click();
  const dark = await ground();
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('Token').waitFor();

  expect(dark).not.toBe(light);
  expect(await ground()).toBe(dark);
});
