import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { bash, homeWithCommands } from '../support/agent/extensions.ts';
import { commandApproval, serveApprovals } from '../support/page/approvals-server.ts';
import { useBrowser } from '../support/page/browser.ts';
import { servePage, submitPrompt } from '../support/page/page-server.ts';

const { visit } = useBrowser();
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Waits until all finite animations have ended: half-faded text fails the contrast check. */
async function waitForAnimations(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    const moving = () => document.getAnimations()
      .filter(({ playState, effect }) => playState === 'running' && effect.getComputedTiming().endTime !== Infinity);
    while (moving().length > 0) await Promise.allSettled(moving().map(({ finished }) => finished));
  })()`);
}

/** Serious and critical accessibility violations of the page in its present state. */
async function findViolations(page: Page): Promise<unknown> {
  await waitForAnimations(page);
  // Evaluated, because the policy of the page blocks an added script.
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

async function openPage(colorScheme: 'light' | 'dark', width = 1280) {
  const { home } = homeWithCommands({
    ask: `
      void ctx.ui.select('Of many?', Array.from({ length: 300 }, (_, at) => 'number ' + at));
      await ctx.ui.select('Which?', ['one', 'two'], { timeout: 3600000 });`,
  });
  const server = await servePage({ home, script });
  return (await visit(server.loginLink, { colorScheme, width })).page;
}

it.each(['light', 'dark'] as const)('the first view is accessible, in %s', async (colours) => {
  const page = await openPage(colours);
  await page.getByRole('button', { name: 'Add a key' }).waitFor();

  expect(await findViolations(page)).toEqual([]);
});

it.each(['light', 'dark'] as const)('a conversation with tools and a dialog is accessible, in %s', async (colours) => {
  const page = await openPage(colours);
  await submitPrompt(page, 'Go');
  await page.getByText('That was all.').waitFor();
  await page.getByText('Thinking 2 words').click();
  const inConversation = await findViolations(page);
  await submitPrompt(page, '/ask');
  await page.getByRole('form', { name: 'Which?' }).waitFor();

  expect([inConversation, await findViolations(page)]).toEqual([[], []]);
});

it.each(['light', 'dark'] as const)('pickers, sheets and the search are accessible, in %s', async (colours) => {
  const page = await openPage(colours);
  await submitPrompt(page, 'Go');
  await page.getByText('That was all.').waitFor();
  const found: unknown[] = [];
  for (const keys of ['Control+k', 'Control+.']) {
    await page.keyboard.press(keys);
    await page.getByRole('option').first().waitFor();
    found.push(await findViolations(page));
    await page.keyboard.press('Escape');
  }
  await page.getByRole('button', { name: 'Shortcuts' }).click();
  await page.getByText('Show this list').waitFor();
  found.push(await findViolations(page));
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+f');
  await page.keyboard.type('title');
  await page.getByText('1 of 1').waitFor();
  found.push(await findViolations(page));

  expect(found).toEqual([[], [], [], []]);
});

it.each(['light', 'dark'] as const)('the session list on a phone is accessible, in %s', async (colours) => {
  const page = await openPage(colours, 390);
  await submitPrompt(page, 'Go');
  await page.getByText('That was all.').waitFor();
  await page.getByRole('button', { name: 'Sessions' }).click();
  await page.getByRole('link', { name: /^Go/ }).waitFor();

  expect(await findViolations(page)).toEqual([]);
});

it.each([
  ['light', 1280],
  ['dark', 390],
] as const)('approvals and the mode picker are accessible, in %s at %i px', async (colorScheme, width) => {
  const edit = { type: 'edit', path: '/home/ada/a.ts', diff: ' 1 one\n-2 two\n+2 three' };
  const hooks = { type: 'command', command: 'git push\u202e', cwd: '/home/ada', hooks: ['.husky/pre-push'] };
  const server = await serveApprovals({
    approvals: [
      commandApproval('', { subject: hooks, title: 'Run it?' }),
      commandApproval('', { subject: edit, title: 'Change it?', source: 'extension' }),
    ],
    state: { approvalMode: 'auto', sandbox: { status: 'unavailable', reason: 'Permission denied' } },
    saved: [{ rule: 'bash(npm test)', scope: 'project' }],
  });
  const { page } = await visit(server.loginLink, { colorScheme, width });
  await page.getByRole('button', { name: /^Approvals/ }).click();
  await page.getByRole('button', { name: 'Revoke bash(npm test)' }).waitFor();
  const inSheet = await findViolations(page);
  await page.keyboard.press('Escape');
  await submitPrompt(page, '/ask');
  await page.getByRole('form', { name: 'Change it?' }).locator('.diff').waitFor();

  expect([inSheet, await findViolations(page)]).toEqual([[], []]);
});

it('the login form is accessible', async () => {
  const { page } = await visit((await servePage()).address);
  await page.getByLabel('Token').waitFor();

  expect(await findViolations(page)).toEqual([]);
});
