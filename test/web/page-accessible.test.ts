import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { useBrowser } from '../support/page/browser.ts';
import { bash, homeWithCommands } from '../support/agent/extensions.ts';
import { submitPrompt, servePage } from '../support/page/page-server.ts';

const { visit } = useBrowser();
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Settles when nothing fades in or out: halfway there nobody could read it. What goes on for ever does not count. */
async function stillness(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    const moving = () => document.getAnimations()
      .filter(({ playState, effect }) => playState === 'running' && effect.getComputedTiming().endTime !== Infinity);
    while (moving().length > 0) await Promise.allSettled(moving().map(({ finished }) => finished));
  })()`);
}

/** What of the page, as it is now, some people could not read or reach. */
async function barriers(page: Page): Promise<unknown> {
  await stillness(page);
  // Not as a script of the page, which its policy would refuse.
  await page.evaluate(axe);
  return page.evaluate(`axe.run().then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html.slice(0, 200))]))`);
}

const script = [
  {
    steps: [
      { thinking: 'I look.' },
      { text: '# A title\n\nText with `code`, [a link](https://x.example/) and\n\n```ts\nconst a = "b"; // c\n```' },
      ...bash('echo hello').steps,
      { toolCall: { name: 'write', arguments: { path: 'a.txt', content: 'one\ntwo\n' } } },
      { toolCall: { name: 'edit', arguments: { path: 'a.txt', edits: [{ oldText: 'two', newText: 'three' }] } } },
      { toolCall: { name: 'read', arguments: { path: 'none.txt' } } },
    ],
  },
  { text: 'That was all.' },
];

async function opened(colorScheme: 'light' | 'dark', width = 1280) {
  const { home } = homeWithCommands({
    ask: `
      void ctx.ui.select('Of many?', Array.from({ length: 300 }, (_, at) => 'number ' + at));
      await ctx.ui.select('Which?', ['one', 'two'], { timeout: 3600000 });`,
  });
  const server = await servePage({ home, script });
  return (await visit(server.loginLink, { colorScheme, width })).page;
}

it.each(['light', 'dark'] as const)('everybody can read and reach what is there at first, in %s', async (colours) => {
  const page = await opened(colours);
  await page.getByRole('button', { name: 'Add a key' }).waitFor();

  expect(await barriers(page)).toEqual([]);
});

it.each(['light', 'dark'] as const)('a conversation with tools and a question, in %s', async (colours) => {
  const page = await opened(colours);
  await submitPrompt(page, 'Go');
  await page.getByText('That was all.').waitFor();
  await page.getByText('Thinking 2 words').click();
  const talk = await barriers(page);
  await submitPrompt(page, '/ask');
  await page.getByRole('form', { name: 'Which?' }).waitFor();

  expect([talk, await barriers(page)]).toEqual([[], []]);
});

it.each(['light', 'dark'] as const)('what lies over the page, in %s', async (colours) => {
  const page = await opened(colours);
  await submitPrompt(page, 'Go');
  await page.getByText('That was all.').waitFor();
  const found: unknown[] = [];
  for (const keys of ['Control+k', 'Control+.']) {
    await page.keyboard.press(keys);
    await page.getByRole('option').first().waitFor();
    found.push(await barriers(page));
    await page.keyboard.press('Escape');
  }
  await page.getByRole('button', { name: 'Shortcuts' }).click();
  await page.getByText('Show this list').waitFor();
  found.push(await barriers(page));
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+f');
  await page.keyboard.type('title');
  await page.getByText('1 of 1').waitFor();
  found.push(await barriers(page));

  expect(found).toEqual([[], [], [], []]);
});

it.each(['light', 'dark'] as const)('the sessions on a phone, in %s', async (colours) => {
  const page = await opened(colours, 390);
  await submitPrompt(page, 'Go');
  await page.getByText('That was all.').waitFor();
  await page.getByRole('button', { name: 'Sessions' }).click();
  await page.getByRole('link', { name: /^Go/ }).waitFor();

  expect(await barriers(page)).toEqual([]);
});

it('the form that lets somebody in', async () => {
  const { page } = await visit((await servePage()).address);
  await page.getByLabel('Token').waitFor();

  expect(await barriers(page)).toEqual([]);
});
