import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { words } from '../support/exported.ts';
import { bash } from '../support/extensions.ts';
import { newHome } from '../support/open.ts';
import { newSession, say, servePage } from '../support/page-server.ts';

const { visit } = useBrowser();

const conversation = (page: Page) => page.locator('main');
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** A user, a file that a script waits for, and how to make it. */
function gated() {
  const home = newHome();
  const gate = join(home.root, 'gate');
  return { home, gate, open: () => writeFile(gate, '') };
}

it('a prompt with a tool: what is thought is folded, what a tool prints is there while it runs', async () => {
  const command = 'mkfifo gate && echo first && cat gate';
  const script = [
    { steps: [{ thinking: 'I have to look.' }, { text: 'Let me **look**.' }, ...bash(command).steps] },
    { text: 'That was all.' },
  ];
  const server = await servePage({ script });
  const view = await visit(server.loginLink);
  const { page } = view;
  await newSession(page);

  await say(page, 'What is there?');
  const tool = page.locator('.tool');
  await tool.getByText('first', { exact: true }).waitFor();
  const meanwhile = await words(tool);
  await page.getByText('Thinking 4 words').click();
  await writeFile(join(server.home.cwd, 'gate'), 'second\n');
  await conversation(page).getByText('That was all.').waitFor();
  await button(page, 'Stop').waitFor({ state: 'hidden' });

  expect(meanwhile).toContain('running');
  expect(await words(tool)).toMatch(/first\nsecond/);
  expect(await words(page.locator('.thinking .markdown'))).toBe('I have to look.');
  expect(await words(page.locator('.user'))).toContain('What is there?');
  expect(await words(page.locator('.answer strong'))).toBe('look');
  expect(await page.title()).toBe('What is there? · tau');
  await page.getByRole('link', { name: 'Sessions' }).click();
  await page.getByRole('listitem').waitFor();
  expect(await words(page.getByRole('listitem'))).toMatch(/^What is there\?\nidle\n.* · 4 messages · /);
  expect(view.complaints).toEqual([]);
});

it('an answer that failed says why', async () => {
  const script = [{ error: { status: 401, message: 'No such key' } }];
  const { page } = await visit((await servePage({ script })).loginLink);
  await newSession(page);

  await say(page, 'Talk');

  await conversation(page).getByText('401 No such key').waitFor();
});

it('a page that is loaded again in the middle of an answer shows the same, and goes on', async () => {
  const { home, gate, open } = gated();
  const script = [
    bash('echo tools too'),
    { steps: [{ thinking: 'A tale.' }, { text: 'Once *upon* a time ' }, { await: gate }, { text: 'and the end.' }] },
  ];
  const { page } = await visit((await servePage({ home, script })).loginLink);
  await newSession(page);
  await say(page, 'Tell me a tale');
  const streaming = conversation(page).getByText('Once upon a time');
  await streaming.waitFor();
  const before = await words(conversation(page));

  await page.reload();
  await streaming.waitFor();
  const after = await words(conversation(page));
  await open();
  await conversation(page).getByText('Once upon a time and the end.').waitFor();

  expect(after).toBe(before);
});

it('the page stays at its end only for those who read there', async () => {
  const { home, gate, open } = gated();
  const last = join(home.root, 'last');
  const lines = (text: string, times: number) => ({ text: `${text}\n\n`, times });
  const steps = [lines('early', 80), { await: gate }, lines('middle', 40), { await: last }, { text: 'The last line.' }];
  const { page } = await visit((await servePage({ home, script: [{ steps }] })).loginLink);
  await newSession(page);
  const left = () => page.evaluate('document.documentElement.scrollHeight - innerHeight - scrollY');
  const scrollTo = (top: number) =>
    page.evaluate(`new Promise((done) => {
      addEventListener('scroll', () => done(scrollY), { once: true });
      scrollTo(0, ${top});
    })`);
  await say(page, 'Go');
  await page.getByText('early').nth(79).waitFor();
  const following = await left();

  const away = await scrollTo(500);
  await open();
  await page.getByText('middle').nth(39).waitFor();
  const stayed = await page.evaluate('scrollY');
  await scrollTo(1_000_000);
  await writeFile(last, '');
  await page.getByText('The last line.').waitFor();

  expect(following).toBeLessThan(2);
  expect([away, stayed]).toEqual([500, 500]);
  expect(await left()).toBeLessThan(2);
});

it('on a phone nothing is wider than the screen', async () => {
  const wide = `${'wide'.repeat(100)}\n\n| a | b |\n|---|---|\n| ${'x'.repeat(300)} | y |\n\n\`\`\`\n${'z '.repeat(200)}\n\`\`\``;
  const server = await servePage({ script: [bash(`echo ${'w'.repeat(300)}`), { text: wide }] });
  const { page } = await visit(server.loginLink, { width: 390, height: 844 });
  await newSession(page);

  await say(page, 'long'.repeat(100));
  await page.locator('table').waitFor();
  const session = await page.evaluate('document.documentElement.scrollWidth');
  await page.getByRole('link', { name: 'Sessions' }).click();
  await page.getByRole('listitem').waitFor();

  expect([session, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([390, 390]);
});
