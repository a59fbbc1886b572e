import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { homeWithCommands, waitForFileCode } from '../support/agent/extensions.ts';
import { newGate } from '../support/agent/test-agent.ts';
import { useBrowser, type ViewOptions, waitForTitle } from '../support/page/browser.ts';
import { main, messageBox, waitForDraft } from '../support/page/page-actions.ts';
import { servePage } from '../support/page/page-server.ts';

const { visit } = useBrowser();

const notice = (page: Page) => page.getByRole('status', { name: 'Waiting sessions' });
const question = (page: Page) => page.getByRole('form', { name: 'Is it you?' });
const icon = (page: Page) => page.locator('link[rel="icon"]').getAttribute('href');

/** On a phone, Enter starts a new line. */
async function send(page: Page, text: string): Promise<void> {
  await messageBox(page).fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

/** A page in a new session, after `/ask` in a session named "say hello", whose dialog waits for the gate. */
async function visitBesideQuestion(options: ViewOptions = {}) {
  const gate = newGate();
  const { home } = homeWithCommands({
    ask: `${waitForFileCode(JSON.stringify(gate.path))} await ctx.ui.confirm('Is it you?', '');`,
  });
  const server = await servePage({ home });
  const { page, complaints } = await visit(server.loginLink, options);
  await send(page, 'say hello');
  await page.waitForURL(/session=/);
  await main(page).getByText('hello', { exact: true }).waitFor();
  const plain = await icon(page);
  await send(page, '/ask');
  await waitForDraft(page, '');
  await page.keyboard.press('Control+Shift+O');
  await waitForTitle(page, 'New session · tau');
  return { page, complaints, gate, plain };
}

it('[V45] on a phone, a session that waits for an answer is marked at the menu button, in title and icon, and can be opened', async () => {
  const { page, complaints, gate, plain } = await visitBesideQuestion({ width: 390, height: 780, hasTouch: true });
  const before = await page.getByRole('button', { name: 'Sessions', exact: true }).count();

  gate.open();
  await waitForTitle(page, '(1) New session · tau');
  await page.getByRole('button', { name: 'Sessions, 1 waits for you' }).waitFor();
  const marked = await icon(page);
  await notice(page).getByText('say hello').waitFor();
  await notice(page).getByRole('button', { name: 'Open' }).click();
  await question(page).waitFor();
  await waitForTitle(page, 'say hello · tau');
  await notice(page).waitFor({ state: 'detached' });

  expect(before).toBe(1);
  expect(marked).not.toBe(plain);
  expect(await icon(page)).toBe(plain);
  expect(complaints).toEqual([]);
});

it('[V45] a key opens the next session that waits, and a dismissed notice leaves the other signs', async () => {
  const { page, gate } = await visitBesideQuestion();

  gate.open();
  await notice(page).getByRole('button', { name: 'Dismiss' }).click();
  await notice(page).waitFor({ state: 'detached' });
  const title = await page.title();
  await messageBox(page).press('Alt+Shift+ArrowDown');

  await question(page).waitFor();
  expect(title).toBe('(1) New session · tau');
});

it('[V45] a hidden page notices a session that waits', async () => {
  const { page, gate } = await visitBesideQuestion({ hasTestClock: true });
  await page.evaluate(`
    Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));`);

  gate.open();
  const isMarked = async () => {
    await page.clock.fastForward(60_000);
    return (await page.title()) === '(1) New session · tau';
  };

  await expect.poll(isMarked).toBe(true);
});
