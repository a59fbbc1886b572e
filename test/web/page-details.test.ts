import { join } from 'node:path';
import { expect, it } from 'vitest';
import { callTool, writeTextFile } from '../support/agent/extensions.ts';
import { NO_RETRY, newHome, writeSettings } from '../support/agent/test-agent.ts';
import { useBrowser, waitForTitle } from '../support/page/browser.ts';
import { waitForCondition } from '../support/page/conversation-view.ts';
import { visibleText } from '../support/page/export-page.ts';
import { main, messageBox, visitByLoginLink, waitForDraft } from '../support/page/page-actions.ts';
import { servePage, submitPrompt } from '../support/page/page-server.ts';
import {
  assistantEntry,
  entry,
  header,
  storeSession,
  storeShortSession,
  userEntry,
} from '../support/sessions/stored-session.ts';

const { visit } = useBrowser();

it('[V47] the hints for commands, files and the shell write their sign when they are tapped', async () => {
  const { page, complaints } = await visit((await servePage()).loginLink, { width: 390, height: 780, hasTouch: true });

  await page.getByRole('button', { name: '/ commands' }).tap();
  await waitForDraft(page, '/');
  await page.getByRole('listbox').getByRole('option').first().waitFor();
  await messageBox(page).fill('');
  await page.getByRole('button', { name: '! shell' }).tap();
  await waitForDraft(page, '!');
  await waitForCondition(page, "document.activeElement?.matches('.message-box')");
  await messageBox(page).fill('see');
  await page.getByRole('button', { name: '@ files' }).tap();
  await waitForDraft(page, 'see @');

  expect(complaints).toEqual([]);
});

it.each([390, 320])('[V47] every hint is visible and can be hit on a screen of %i pixels', async (width) => {
  const { page } = await visit((await servePage()).loginLink, { width, height: 780, hasTouch: true });
  const hints = page.locator('.hints.keys button');
  await hints.last().waitFor();

  const hit = await hints.evaluateAll((buttons) =>
    buttons.map((button) => {
      const { x, y, width: wide, height } = button.getBoundingClientRect();
      return button.contains(document.elementFromPoint(x + wide / 2, y + height / 2));
    }),
  );

  expect(hit).toEqual([true, true, true]);
});

it('[V47] a shell command shows only the last state of a line that it overwrites', async () => {
  const { page } = await visit((await servePage()).loginLink);

  await submitPrompt(page, "!printf '10%%\\r99%%\\rdone\\nnext\\r\\n'");
  const output = main(page).locator('.output');
  await output.getByText('done').waitFor();

  expect((await output.textContent())?.trim()).toBe('done\nnext');
});

it('[V47] a shell command in a conversation that is scrolled up leads to its result', async () => {
  const script = [{ text: Array.from({ length: 200 }, (_, line) => `Line ${line}`).join('\n\n') }];
  const { page } = await visit((await servePage({ script })).loginLink);
  await submitPrompt(page, 'Go');
  await main(page).getByText('Line 199').waitFor();
  await page.locator('.list').hover();
  await page.mouse.wheel(0, -3000);
  await page.getByRole('button', { name: 'Jump to latest' }).waitFor();

  await submitPrompt(page, '!echo result of it');

  await main(page).locator('.output').getByText('result of it').waitFor();
  await page.getByRole('button', { name: 'Jump to latest' }).waitFor({ state: 'detached' });
});

it('[V47] the paths of cards are relative to the folder of the session', async () => {
  const home = newHome();
  const path = writeTextFile(join(home.cwd, 'src/note.txt'), 'Hello');
  const script = [callTool('read', { path }), { text: 'Read.' }];
  const { page } = await visit((await servePage({ home, script })).loginLink);

  await submitPrompt(page, 'Go');
  await main(page).getByText('Read.').waitFor();

  expect(await main(page).locator('.path').textContent()).toBe('src/note.txt');
});

it('[V47] a rejected key offers to add one', async () => {
  const home = newHome();
  writeSettings(home, NO_RETRY);
  const script = [{ steps: [{ error: { status: 401, message: 'invalid x-api-key' } }] }];
  const { page } = await visit((await servePage({ home, script })).loginLink);

  await submitPrompt(page, 'Go');
  await main(page).getByText('invalid x-api-key').first().waitFor();
  await main(page).getByRole('button', { name: 'Add a key' }).click();

  await page.getByRole('dialog', { name: 'Add a key' }).waitFor();
});

it('[V47] a copied link is confirmed, and a fork before the first message is a new session', async () => {
  const { page } = await visit((await servePage()).loginLink);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await submitPrompt(page, 'say hello');
  await main(page).getByText('hello', { exact: true }).waitFor();

  await page.getByRole('button', { name: 'Session', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Copy link' }).click();
  await page.getByText('The link is in the clipboard.').waitFor();
  await main(page).getByText('say hello').first().hover();
  await main(page).getByRole('button', { name: /fork/i }).click();

  await waitForDraft(page, 'say hello');
  await waitForTitle(page, 'New session · tau');
});

it('[V47] unfolded thinking shows its text once', async () => {
  const thinking = `First ${'this and that '.repeat(20)}`;
  const { page } = await visit((await servePage({ script: [{ steps: [{ thinking }, { text: 'Done.' }] }] })).loginLink);
  await submitPrompt(page, 'Go');
  await main(page).getByText('Done.').waitFor();
  const summary = main(page).locator('details.thinking > summary');
  const folded = await visibleText(summary);

  await summary.click();

  expect(folded).toContain('First');
  expect(await visibleText(summary)).not.toMatch(/First|…/);
});

it('[V50] copies of a session have titles of their own in the list and the header', async () => {
  const home = newHome();
  storeShortSession(home, 'a', 'Session A');
  const server = await servePage({ home });
  const { page } = await visitByLoginLink(visit, server);
  await page.goto(`${server.address}?session=a`);
  await main(page).getByText('Well.').waitFor();
  const list = page.getByRole('navigation', { name: 'Sessions' });

  await page.getByRole('button', { name: 'Session', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Clone' }).click();
  await page.waitForURL((url) => url.searchParams.get('session') !== 'a');
  const copy = list.getByRole('link').filter({ has: page.getByRole('img', { name: 'From another session' }) });
  await copy.waitFor();
  await submitPrompt(page, 'say something else');

  await copy.getByText('say something else').waitFor();
  await page.getByRole('heading', { level: 1, name: 'say something else' }).waitFor();
  await list.getByRole('link', { name: 'Session A' }).waitFor();
});

it('[V51] what ended with its agent is shown as interrupted, what a user ended as stopped', async () => {
  const home = newHome();
  const calls = ['a', 'b'].map((id) => ({ type: 'toolCall', id, name: 'bash', arguments: { command: 'sleep 600' } }));
  const result = (toolCallId: string, parentId: string, details: object) => {
    const content = [{ type: 'text', text: 'Command aborted' }];
    const message = { role: 'toolResult', toolCallId, toolName: 'bash', content, details, isError: true, timestamp: 3 };
    return entry('message', `result-${toolCallId}`, parentId, { message });
  };
  storeSession(home, [
    header(home.cwd),
    userEntry('u', null, 'Go'),
    assistantEntry('c', 'u', '', { content: calls, stopReason: 'toolUse' }),
    result('a', 'c', {}),
    result('b', 'result-a', { interrupted: true }),
    assistantEntry('m', 'result-b', 'One', { stopReason: 'aborted' }),
    assistantEntry('n', 'm', 'Two', { stopReason: 'aborted', errorCode: 'interrupted' }),
  ]);
  const server = await servePage({ home });
  const { page } = await visitByLoginLink(visit, server);

  await page.goto(`${server.address}?session=stored-1`);
  await main(page).getByText('Two').waitFor();

  expect(await main(page).locator('.tool .outcome').allTextContents()).toEqual(['stopped', 'interrupted']);
  expect(await main(page).locator('.response > .note').allTextContents()).toEqual(['Stopped', 'Interrupted']);
});
