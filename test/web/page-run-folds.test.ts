import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { bash, callTool, userExtension } from '../support/agent/extensions.ts';
import { newGate, newHome } from '../support/agent/test-agent.ts';
import { useBrowser } from '../support/page/browser.ts';
import {
  conversationRegion,
  topOfText,
  waitForCondition,
  waitUntilAtEnd,
  waitUntilScrollStops,
  waitUntilVisible,
} from '../support/page/conversation-view.ts';
import { visibleText } from '../support/page/export-page.ts';
import { main } from '../support/page/page-actions.ts';
import { servePage, submitPrompt } from '../support/page/page-server.ts';

const { visit } = useBrowser();

const fold = (page: Page) => main(page).getByRole('button', { name: /^\d+ steps/ });

const write = (path: string) => callTool('write', { path, content: 'x' });

const LONG = Array.from({ length: 60 }, (_, line) => `Line ${line}`).join('\n\n');

/** Six steps: two of them write one file, one fails. */
const SIX_STEPS = [
  write('a.txt'),
  write('a.txt'),
  write('b.txt'),
  bash('exit 3'),
  { steps: [{ thinking: 'Thought about it.' }, { text: 'Between the steps.' }, ...bash('echo hidden needle').steps] },
  bash('echo last'),
];

it('[V48] a finished run of many steps folds to a line, which opens with a key and by a click', async () => {
  const gate = newGate();
  const script = [...SIX_STEPS, { steps: [{ text: 'The answer ' }, { await: gate.path }, { text: 'is here.' }] }];
  const { page, complaints } = await visit((await servePage({ script })).loginLink);
  const between = main(page).getByText('Between the steps.');

  await submitPrompt(page, 'Do it');
  await main(page).getByText('The answer').waitFor();
  const shownDuringRun = [await fold(page).count(), await between.isVisible()];
  gate.open();
  await fold(page).waitFor();

  expect(shownDuringRun).toEqual([0, true]);
  expect(await visibleText(fold(page))).toMatch(/^6 steps · .+ · 2 files changed\s*1 failed$/);
  expect(await fold(page).getAttribute('aria-expanded')).toBe('false');
  expect(await main(page).locator('.tool').count()).toBe(0);
  expect(await main(page).getByText('Do it').first().isVisible()).toBe(true);
  expect(await main(page).getByText('The answer is here.').isVisible()).toBe(true);
  expect(await main(page).getByRole('heading', { name: 'Assistant' }).count()).toBe(1);

  await fold(page).focus();
  await page.keyboard.press('Enter');
  await between.waitFor();

  expect(await fold(page).getAttribute('aria-expanded')).toBe('true');
  expect(await main(page).locator('.tool').count()).toBe(6);
  expect(await main(page).getByRole('heading', { name: 'Assistant' }).count()).toBe(1);
  await waitForCondition(page, "document.activeElement?.matches('.run-fold')");

  await fold(page).click();
  await between.waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
});

it('[V48] a short run is not folded, and an open one stays open after scrolling away and after a run', async () => {
  const script = [bash('echo short'), { text: 'Short.' }, ...SIX_STEPS, { text: LONG }, { text: 'Second.' }];
  const { page } = await visit((await servePage({ script })).loginLink);
  await submitPrompt(page, 'One');
  await main(page).getByText('Short.').waitFor();
  expect([await main(page).locator('.tool').count(), await fold(page).count()]).toEqual([1, 0]);

  await submitPrompt(page, 'Many');
  await waitUntilVisible(page, 'Line 59');
  await conversationRegion(page).focus();
  await page.keyboard.press('Home');
  await fold(page).click();
  await page.keyboard.press('End');
  await main(page).getByText('Between the steps.').waitFor({ state: 'detached' });
  await submitPrompt(page, 'Next');
  await main(page).getByText('Second.').waitFor();
  await conversationRegion(page).focus();
  await page.keyboard.press('Home');

  await main(page).getByText('Between the steps.').waitFor();
  expect(await fold(page).getAttribute('aria-expanded')).toBe('true');
});

it('[V48] the line names failed and denied calls; a stopped call stays visible', async () => {
  const home = newHome();
  const block = "pi.on('tool_call', ({ input }) => (input.command === 'rm x' ? { block: true } : undefined));";
  userExtension(home, 'block.ts', `export default (pi) => { ${block} };`);
  const script = [...SIX_STEPS, bash('rm x'), bash('sleep 600')];
  const { page } = await visit((await servePage({ home, script })).loginLink);

  await submitPrompt(page, 'Do it');
  await main(page).locator('.tool.running', { hasText: 'sleep 600' }).waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await fold(page).waitFor();

  expect(await visibleText(fold(page))).toMatch(/^7 steps .* 2 files changed\s+1 failed\s+1 denied$/);
  expect(await main(page).locator('.tool.stopped').isVisible()).toBe(true);
});

it('[V49] search finds a text in a folded run and opens the run', async () => {
  const script = [...SIX_STEPS, { text: LONG }];
  const server = await servePage({ script });
  const { page, complaints } = await visit(server.loginLink);
  await submitPrompt(page, 'Do it');
  await waitUntilVisible(page, 'Line 59');
  await page.reload();
  await waitUntilVisible(page, 'Line 59');

  await page.keyboard.press('Control+f');
  await page.keyboard.type('between the steps');
  await page.getByText('1 of 1').waitFor();

  await waitUntilVisible(page, 'Between the steps.');
  await waitForCondition(page, "CSS.highlights.get('current')?.size === 1");
  expect(await fold(page).getAttribute('aria-expanded')).toBe('true');
  expect(complaints).toEqual([]);
});

it('[V49] a run that ends moves nothing on the screen; one that is being read folds later', async () => {
  const gates = [newGate(), newGate()];
  const [first, second] = gates.map(({ path }) => ({ await: path }));
  const script = [
    ...SIX_STEPS,
    { steps: [{ text: LONG }, first] },
    ...SIX_STEPS,
    { steps: [{ text: 'Second answer.' }, second] },
    { text: 'Third answer.' },
  ];
  const { page } = await visit((await servePage({ script })).loginLink);

  await submitPrompt(page, 'One');
  await waitUntilVisible(page, 'Line 59');
  await waitUntilAtEnd(page);
  const atEnd = await topOfText(page, 'Line 50');
  gates[0]?.open();
  await page.getByText('The answer is complete.').waitFor({ state: 'attached' });
  await waitUntilAtEnd(page);
  // Only the footer of the message is added.
  expect(Math.abs((await topOfText(page, 'Line 50')) - atEnd)).toBeLessThan(40);

  await submitPrompt(page, 'Two');
  await waitUntilVisible(page, 'Second answer.');
  await conversationRegion(page).hover();
  await page.mouse.wheel(0, -250);
  await page.getByRole('button', { name: 'Jump to latest' }).waitFor();
  await waitUntilScrollStops(page);
  const above = await topOfText(page, 'Between the steps.');
  gates[1]?.open();
  await page.getByText('The answer is complete.').waitFor({ state: 'attached' });
  await waitUntilScrollStops(page);
  expect(await topOfText(page, 'Between the steps.')).toBe(above);

  await submitPrompt(page, 'Three');
  await main(page).getByText('Between the steps.').waitFor({ state: 'detached' });
});

it('[V49] opening a run at the end of the conversation leaves its line in place', async () => {
  const script = [...SIX_STEPS, { text: 'Answer.' }];
  const { page } = await visit((await servePage({ script })).loginLink, { height: 420 });
  await submitPrompt(page, 'One');
  await fold(page).waitFor();
  await waitUntilScrollStops(page);
  const before = await fold(page).boundingBox();

  await fold(page).click();
  await main(page).getByText('Between the steps.').waitFor();
  await waitUntilScrollStops(page);

  expect(await fold(page).boundingBox()).toEqual(before);
});
