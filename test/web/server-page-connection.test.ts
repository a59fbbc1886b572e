import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { words } from '../support/exported.ts';
import { newHome } from '../support/open.ts';
import { newSession, type PageServer, say, servePage } from '../support/page-server.ts';

const { visit } = useBrowser();

const conversation = (page: Page) => page.locator('main');
const connection = (page: Page) => page.getByRole('status');

/** A server whose model begins a tale that it never ends, and answers anything else; a page on a session of it. */
async function inTheMiddle(): Promise<{ server: PageServer; page: Page }> {
  const home = newHome();
  const steps = [{ text: 'Once upon a time ' }, { await: join(home.root, 'never') }];
  const script = [
    { steps, when: 'tale', keep: true },
    { text: 'I am here.', when: 'there', keep: true },
  ];
  const server = await servePage({ home, script });
  const { page } = await visit(server.loginLink);
  await page.clock.install();
  await newSession(page);
  await say(page, 'Are you there?');
  await conversation(page).getByText('I am here.').waitFor();
  await say(page, 'Tell me a tale');
  await conversation(page).getByText('Once upon a time').waitFor();
  return { server, page };
}

/** Lets the time of every retry come. */
async function outlastRetries(page: Page): Promise<void> {
  for (const attempt of [1, 2, 3, 4, 5]) {
    await connection(page).getByText(`Attempt ${attempt} `).waitFor();
    await page.clock.fastForward(30_000);
  }
}

it('[V23] a server that dies in mid-stream and comes again: Reconnecting…, then the session is there again', async () => {
  const { server, page } = await inTheMiddle();

  await server.kill();
  await connection(page).getByText('Reconnecting…').waitFor();
  const meanwhile = await words(conversation(page));
  await server.again();
  await connection(page).waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Send' }).waitFor();
  await say(page, 'Are you there again?');
  await page.getByText('I am here.').nth(1).waitFor();

  expect(meanwhile).toContain('Once upon a time');
  expect(await page.locator('.said').allInnerTexts()).toEqual([
    'Are you there?',
    'Tell me a tale',
    'Are you there again?',
  ]);
});

it('[V23] what is written meanwhile is sent once the connection is there again', async () => {
  const { server, page } = await inTheMiddle();

  await server.kill();
  await connection(page).getByText('Reconnecting…').waitFor();
  await say(page, 'Still there?');
  await page.getByText('Not sent yet Still there?').waitFor();
  await server.again();

  await conversation(page).getByText('I am here.').nth(1).waitFor();
  await page.locator('.queue').waitFor({ state: 'hidden' });
});

it('[V25] after the last retry the page says Connection Lost, and a button tries again', async () => {
  const { server, page } = await inTheMiddle();

  await server.kill();
  await outlastRetries(page);
  await connection(page).getByText('Connection Lost').waitFor();
  await page.getByRole('button', { name: 'Retry' }).click();
  await outlastRetries(page);
  await connection(page).getByText('Connection Lost').waitFor();
  await server.again();
  await page.getByRole('button', { name: 'Retry' }).click();

  await connection(page).waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Send' }).waitFor();
  await say(page, 'Are you there again?');
  await page.getByText('I am here.').nth(1).waitFor();
});

it('a new session is there after a restart of the server, also if nothing was said in it', async () => {
  const server = await servePage();
  const { page } = await visit(server.loginLink);
  await newSession(page);
  await connection(page).waitFor({ state: 'hidden' });
  const before = page.url();

  await server.kill();
  await connection(page).getByText('Reconnecting…').waitFor();
  await server.again();
  await connection(page).waitFor({ state: 'hidden' });
  await page.reload();
  await say(page, 'say hello');
  await conversation(page).getByText('hello', { exact: true }).waitFor();

  expect(page.url()).toBe(before.replace('?new=', '?session='));
});

it('a session that is not there is said not to be', async () => {
  const server = await servePage();
  const { page } = await visit(server.loginLink);
  await page.getByText('No sessions yet.').waitFor();

  await page.goto(`${server.address}?session=none`);

  await connection(page).getByText('Session not found: none').waitFor();
  expect(await page.getByRole('textbox').count()).toBe(0);
  await page.getByRole('link', { name: 'Sessions' }).click();
  await page.getByText('No sessions yet.').waitFor();
});

it('a page that finds no server says so, and tries again', async () => {
  const server = await servePage();
  const { page } = await visit(server.loginLink);
  await page.getByText('No sessions yet.').waitFor();
  await page.route('**/api/me', (route) => route.abort(), { times: 1 });

  await page.reload();
  await page.getByText('The server does not answer').waitFor();
  await page.getByRole('button', { name: 'Retry' }).click();

  await page.getByText('No sessions yet.').waitFor();
});
