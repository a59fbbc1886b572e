import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { connectRemote } from '../../src/client/remote/connect-remote.node.ts';
import { builtInSuggestions } from '../../src/web/page/welcome/suggestions.tsx';
import { newHome, writeSettings } from '../support/agent/test-agent.ts';
import { homeWithFiles, providerConfig as provider } from '../support/agent/user-files.ts';
import { openTab, useBrowser } from '../support/page/browser.ts';
import { visibleText } from '../support/page/export-page.ts';
import { button, createToken, messageBox, visitWithScopes } from '../support/page/page-actions.ts';
import { type PageServer, servePage } from '../support/page/page-server.ts';
import { IssuerDouble } from '../support/providers/issuer-double.ts';

const { visit } = useBrowser();

const SECRET = 'sk-hunter2-of-the-test';

/** The messages of the session that the page shows, once it is idle. */
async function messagesInSession(server: PageServer, page: Page) {
  await page.waitForURL(/session=/);
  const session = new URL(page.url()).searchParams.get('session') ?? '';
  const remote = connectRemote(`${server.address.replace(/^http/, 'ws')}session`, {
    token: await createToken(server, 'view'),
    session,
  });
  onTestFinished(() => remote.close());
  await remote.waitIdle();
  const { messages } = await remote.getMessages();
  return messages;
}

/** The content that each suggestion must produce. */
const expectedContent: Readonly<Record<string, RegExp>> = {
  'Look around': /"name":"bash".*package\.json/s,
  'Watch a command': /step 1\\nstep 2\\nstep 3\\nstep 4\\nstep 5/,
  'Write and change': /"name":"write".*Hello from tau.*"name":"write".*Hello again from tau/s,
  'Think first': /"thinking":"This is about what makes a good tool/,
  'Stream a long answer': /998 999 1000/,
  'Fail and try again': /"stopReason":"error".*529/,
};

it.each(builtInSuggestions)('the built-in model carries out a suggestion: $title', async ({ title, message }) => {
  const home = newHome();
  writeSettings(home, { retry: { baseDelayMs: 1 } });
  await writeFile(join(home.cwd, 'package.json'), '{}');
  const server = await servePage({ home });
  const view = await visit(server.loginLink);
  await view.page.getByText('scripted model').waitFor();

  await view.page.getByRole('button', { name: title }).click();
  const messages = await messagesInSession(server, view.page);

  expect(JSON.stringify(messages[0])).toContain(JSON.stringify(message).slice(1, -1));
  expect(JSON.stringify(messages)).toMatch(expectedContent[title] ?? /nothing/);
  expect(messages.some((one) => one.role === 'toolResult' && one.isError)).toBe(false);
  expect(view.complaints).toEqual([]);
});

it('a double click on a suggestion sends it once', async () => {
  const server = await servePage();
  const { page, complaints } = await visit(server.loginLink);

  await page.getByRole('button', { name: 'Think first' }).dblclick();
  const messages = await messagesInSession(server, page);

  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  expect(complaints).toEqual([]);
});

it('a key is stored readable by its owner only, never shown, and its models can be chosen at once', async () => {
  const server = await servePage();
  const view = await visit(server.loginLink);
  const { page } = view;
  await button(page, 'Add a key').click();

  const form = page.getByRole('dialog', { name: 'Add a key' });
  await form.getByLabel('Provider').selectOption('groq');
  await form.getByLabel('Key', { exact: true }).fill(SECRET);
  await page.keyboard.press('Enter');
  await form.getByText(/^The key is stored: \d+ models of Groq can be chosen\./).waitFor();
  const left = await form.getByLabel('Key', { exact: true }).inputValue();
  const kept = await page.evaluate(
    'JSON.stringify([localStorage, sessionStorage, document.documentElement.outerHTML])',
  );
  await form.getByRole('button', { name: 'Choose one' }).click();
  const picker = page.getByRole('dialog', { name: 'Model' });
  await picker.getByRole('group', { name: 'Groq' }).waitFor();
  await page.keyboard.press('Enter');
  await picker.waitFor({ state: 'hidden' });

  await page.getByRole('heading', { name: 'What is to be done?' }).waitFor();
  const auth = join(server.home.agentDir, 'auth.json');
  expect(JSON.parse(await readFile(auth, 'utf8'))).toEqual({ groq: { type: 'api_key', key: SECRET } });
  expect((await stat(auth)).mode & 0o777).toBe(0o600);
  expect(left).toBe('');
  expect(kept).not.toContain(SECRET);
  await page.reload();
  await button(page, 'Session').waitFor();
  expect(view.complaints).toEqual([]);
});

it('a key that cannot be stored is rejected in its form, which lists the providers with their models', async () => {
  const home = homeWithFiles({
    models: { providers: { shop: provider('http://127.0.0.1:1', { authHeader: true }) } },
    auth: '{"groq": ',
  });
  const server = await servePage({ home });
  const view = await visit(server.loginLink);
  const { page } = view;
  await button(page, 'Add a key').click();
  const form = page.getByRole('dialog', { name: 'Add a key' });
  await form.getByLabel('Provider').selectOption('shop');
  const offered = await form.getByLabel('Provider').locator('option').allInnerTexts();

  await form.getByLabel('Key', { exact: true }).fill(SECRET);
  await form.getByRole('button', { name: 'Store the key' }).click();
  await form.getByRole('alert').getByText('it is left as it is').waitFor();

  expect(offered[0]).toMatch(/^Anthropic · \d+ models$/);
  expect(offered).toContain('Shop · 1 model');
  expect(await visibleText(form)).not.toContain(SECRET);
  expect(await readFile(join(home.agentDir, 'auth.json'), 'utf8')).toBe('{"groq": ');
  expect(view.complaints).toEqual([]);
});

it('removing a key removes its models, and the built-in model remains', async () => {
  const server = await servePage();
  const view = await visit(server.loginLink);
  const { page } = view;
  await button(page, 'Add a key').click();
  const form = page.getByRole('dialog', { name: 'Add a key' });
  const key = form.getByLabel('Key', { exact: true });

  await key.fill('nonsense key with spaces');
  await page.keyboard.press('Enter');
  await form.getByRole('alert').getByText('A key is one word, without spaces').waitFor();
  const offered = await form.getByText('is stored.').count();
  await key.fill(` ${SECRET} `);
  await page.keyboard.press('Enter');
  await form.getByText('A key of Anthropic is stored.').waitFor();
  const { page: tab, complaints } = await openTab(view);
  const removal = tab.getByRole('dialog', { name: 'Add a key' });
  const picker = tab.getByRole('dialog', { name: 'Model' });
  await tab.getByRole('button', { name: /^Model: Claude/ }).click();
  await picker.getByRole('group', { name: 'Anthropic' }).waitFor();
  await picker.getByRole('button', { name: 'Add a key' }).click();
  await removal.getByRole('button', { name: 'Remove the key' }).dblclick();
  await removal.getByRole('button', { name: 'Remove the key' }).click();
  await removal.getByText('Remove the key of Anthropic?').waitFor();
  await removal.getByRole('button', { name: 'Remove', exact: true }).click();
  await removal.getByText('The key is removed: no model of Anthropic can be used any more.').waitFor();
  await removal.getByText('A key of Anthropic is stored.').waitFor({ state: 'detached' });
  await removal.getByRole('button', { name: 'Choose one' }).click();
  await picker.getByRole('group', { name: 'Built in' }).waitFor();
  const groups = await picker.getByRole('group').count();
  await tab.keyboard.press('Enter');
  await button(tab, 'Model: Scripted').waitFor();

  expect(offered).toBe(0);
  expect(groups).toBe(1);
  expect(JSON.parse(await readFile(join(server.home.agentDir, 'auth.json'), 'utf8'))).toEqual({});
  expect([...view.complaints, ...complaints]).toEqual([]);
});

it('a key that is configured elsewhere cannot be removed on the page, which shows why', async () => {
  const models = { providers: { shop: provider('http://127.0.0.1:1', { apiKey: 'sk-of-the-file' }) } };
  const { page } = await visit((await servePage({ home: homeWithFiles({ models }) })).loginLink);
  await button(page, 'Model: m').click();
  await button(page, 'Add a key').click();

  await page.getByLabel('Provider').selectOption('shop');

  await page.getByText('it can only be removed there').waitFor();
  expect(await button(page, 'Remove the key').count()).toBe(0);
});

it('a login that may not store keys is referred to the operator; a view-only login is offered nothing', async () => {
  const server = await servePage();
  const own = await visit(server.loginLink);
  await own.page.getByRole('button', { name: 'Think first' }).click();
  await own.page.waitForURL(/session=/);

  const guest = await visitWithScopes(visit, server, { scopes: 'view,prompt' });
  await guest.page.getByText('Ask the owner of this server to add a key').waitFor();
  await button(guest.page, 'Choose a model').click();
  await guest.page.getByRole('option').first().waitFor();
  await guest.page.getByText('No model is configured').waitFor();
  const offered = await button(guest.page, 'Add a key').count();
  const viewer = await visitWithScopes(visit, server, { scopes: 'view', address: own.page.url() });
  await viewer.page.getByText('This login may only look.').waitFor();

  expect(offered).toBe(0);
  expect(await viewer.page.locator('.ideas').count()).toBe(0);
});

it('with a real model a suggestion is put into the box, not sent, and the last sessions of the folder are listed', async () => {
  const home = homeWithFiles({ models: { providers: { shop: provider('http://127.0.0.1:1') } } });
  const server = await servePage({ home });
  const view = await visit(server.loginLink);
  const { page } = view;
  await page.getByRole('heading', { name: 'What is to be done?' }).waitFor();

  await page.getByRole('button', { name: 'Run the tests' }).click();
  await expect.poll(() => messageBox(page).inputValue()).toContain('how the tests are run');
  const focused = await messageBox(page).evaluate((field) => field === document.activeElement);
  const address = page.url();
  await messageBox(page).fill('Remember me');
  await page.keyboard.press('Enter');
  await page.waitForURL(/session=/);
  await page.goto(server.address);
  await page.getByRole('heading', { name: 'Go on in this folder' }).waitFor();
  await page.getByRole('main').getByRole('link', { name: 'Remember me' }).click();

  await page.getByRole('heading', { level: 1, name: 'Remember me' }).waitFor();
  expect(focused).toBe(true);
  expect(address).not.toContain('session=');
  expect(view.complaints).toEqual([]);
});

it('[L67] a sign-in is started in the form of keys and guided by the page', async () => {
  const issuer = await IssuerDouble.start();
  const home = homeWithFiles({ models: { providers: { xai: { signIn: { issuer: issuer.url } } } } });
  const server = await servePage({ home });
  const { page, complaints } = await visit(server.loginLink);
  await button(page, 'Add a key').click();
  const form = page.getByRole('dialog', { name: 'Add a key' });
  await form.getByLabel('Provider').selectOption('xai');

  await form.getByRole('button', { name: 'Sign in to xAI' }).click();
  await page.getByText('Enter the code ABCD-1234').waitFor();
  const address = await page.getByRole('link', { name: 'Open' }).getAttribute('href');
  await page.getByText(/^Signed in to xAI: \d+ models can be chosen\.$/).waitFor();

  expect(address).toBe(`${issuer.url}/device`);
  expect(JSON.parse(await readFile(join(home.agentDir, 'auth.json'), 'utf8')).xai).toMatchObject({ type: 'oauth' });
  expect(complaints).toEqual([]);
});
