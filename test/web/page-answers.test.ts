import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { bash } from '../support/agent/extensions.ts';
import { useBrowser } from '../support/page/browser.ts';
import { visibleText } from '../support/page/export-page.ts';
import { servePage, submitPrompt } from '../support/page/page-server.ts';

const { visit } = useBrowser();

const conversation = (page: Page) => page.getByRole('region', { name: 'Conversation' });

it('thinking is folded, and the output of a tool is shown while it runs', async () => {
  const command = 'mkfifo gate && echo first && cat gate';
  const script = [
    { steps: [{ thinking: 'I have to look.' }, { text: 'Let me **look**.' }, ...bash(command).steps] },
    { text: 'That was all.' },
  ];
  const server = await servePage({ script });
  const view = await visit(server.loginLink);
  const { page } = view;

  await submitPrompt(page, 'What is there?');
  const tool = page.locator('.tool');
  await tool.locator('.output', { hasText: 'first' }).waitFor();
  const meanwhile = await visibleText(tool);
  await page.getByText('Thinking 4 words').click();
  await writeFile(join(server.home.cwd, 'gate'), 'second\n');
  await conversation(page).getByText('That was all.').waitFor();
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'hidden' });

  expect(meanwhile).toContain('running');
  expect(await visibleText(tool)).toMatch(/first\nsecond/);
  expect(await visibleText(page.locator('.thinking .markdown'))).toBe('I have to look.');
  expect(await visibleText(page.locator('.user'))).toContain('What is there?');
  expect(await visibleText(page.locator('.response strong'))).toBe('look');
  expect(await page.title()).toBe('What is there? · tau');
  expect(view.complaints).toEqual([]);
});

it('a write over a file is shown as a diff, also after a reload', async () => {
  const content = 'const price = 3;\nconst tax = 2;\n';
  const write = { toolCall: { name: 'write', arguments: { path: 'shop.ts', content } } };
  const server = await servePage({ script: [write, { text: 'Written.' }] });
  await writeFile(join(server.home.cwd, 'shop.ts'), content.replace('3', '1'));
  const { page, complaints } = await visit(server.loginLink);
  const changed = async () => {
    await page.locator('.tool', { hasText: '+1 −1' }).waitFor();
    return [await visibleText(page.locator('.diff-line del')), await visibleText(page.locator('.diff-line ins'))];
  };

  await submitPrompt(page, 'Change the price');
  const before = await changed();
  await conversation(page).getByText('Written.').waitFor();
  await page.reload();

  expect([before, await changed()]).toEqual([
    ['1', '3'],
    ['1', '3'],
  ]);
  const roomForSign = await page
    .locator('.diff-sign')
    .first()
    .evaluate((sign) => {
      const { paddingLeft, paddingRight } = getComputedStyle(sign);
      return sign.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
    });
  expect(roomForSign).toBeGreaterThan(4);
  expect(complaints).toEqual([]);
});

it('a stopped tool is not shown as failed', async () => {
  const server = await servePage({ script: [bash('echo begun; sleep 1000'), { text: 'Never said.' }] });
  const { page } = await visit(server.loginLink);

  await submitPrompt(page, 'Wait');
  await page.locator('.tool .output', { hasText: 'begun' }).waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.tool.stopped .outcome', { hasText: 'stopped' }).waitFor();
  await page.reload();
  await page.locator('.tool.stopped .outcome', { hasText: 'stopped' }).waitFor();

  expect(await page.getByText('aborted').count()).toBe(0);
});

it('a failed assistant message shows the reason', async () => {
  const script = [{ error: { status: 401, message: 'No such key' } }];
  const { page } = await visit((await servePage({ script })).loginLink);

  await submitPrompt(page, 'Talk');

  await conversation(page).getByText('401 No such key').waitFor();
});

it.each([320, 390])('on a phone of %i pixels nothing is wider than the screen', async (width) => {
  const wide = `${'wide'.repeat(100)}\n\n| a | b |\n|---|---|\n| ${'x'.repeat(300)} | y |\n\n\`\`\`\n${'z '.repeat(200)}\n\`\`\``;
  const server = await servePage({ script: [bash(`echo ${'w'.repeat(300)}`), { text: wide }] });
  const { page } = await visit(server.loginLink, { width, height: 700 });

  await submitPrompt(page, `${'long'.repeat(100)}\n\n\`\`\`\n${'code '.repeat(100)}\n\`\`\``);
  await page.locator('table').waitFor();
  const { x = -1, width: bubble = Infinity } = (await page.locator('.bubble').boundingBox()) ?? {};
  const session = await page.evaluate('document.documentElement.scrollWidth');
  await page.getByRole('button', { name: 'Sessions' }).click();
  await page.getByRole('link', { name: /^longlong/ }).waitFor();

  expect([session, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([width, width]);
  expect(x).toBeGreaterThanOrEqual(0);
  expect(x + bubble).toBeLessThanOrEqual(width);
});

it('hidden and bidirectional characters are shown by code point in prompts, links and comments', async () => {
  const turned = 'photo\u202egpj.exe [pay\u202emoc.live](https://x.example/) zero\u200bwidth\n\n<!-- a\u202eb -->';
  const { page } = await visit((await servePage({ script: [{ text: turned }] })).loginLink);

  await submitPrompt(page, 'a\u202eb');
  await page.locator('.response').getByText('zero').waitFor();

  expect(await conversation(page).locator('.hidden-character').allInnerTexts()).toEqual([
    'U+202E',
    'U+202E',
    'U+202E',
    'U+200B',
    'U+202E',
  ]);
});
