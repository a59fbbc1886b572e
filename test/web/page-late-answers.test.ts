import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { newGate, newHome } from '../support/agent/test-agent.ts';
import { openTab, useBrowser } from '../support/page/browser.ts';
import { waitForCondition } from '../support/page/conversation-view.ts';
import { visibleText } from '../support/page/export-page.ts';
import { button, messageBox, visitByLoginLink } from '../support/page/page-actions.ts';
import { servePage, submitPrompt } from '../support/page/page-server.ts';
import { Traffic } from '../support/page/socket-frames.ts';
import { storeShortSession } from '../support/sessions/stored-session.ts';

const { visit } = useBrowser();

/** The page of a session whose responses can be delayed. */
async function inSession(home = newHome()) {
  storeShortSession(home, 'a', 'Session A');
  storeShortSession(home, 'b', 'Session B');
  const server = await servePage({ home });
  const view = await visitByLoginLink(visit, server);
  const traffic = new Traffic();
  await traffic.watch(view.page);
  await view.page.goto(`${server.address}?session=a`);
  await view.page.getByText('Well.').waitFor();
  return { view, page: view.page, traffic, server };
}

const search = (page: Page) => page.getByRole('searchbox', { name: 'Search in the conversation' });

it('a late response to a model choice does not close a search opened since', async () => {
  const { page, traffic } = await inSession();
  const model = () => visibleText(page.getByRole('button', { name: /^Model:/ }));
  const before = await model();
  traffic.hold('"command":"set_model"');
  const accepted = traffic.waitForFrame('"command":"set_model"');

  await page.keyboard.press('Control+k');
  await page.getByRole('option').last().click();
  await accepted;
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+f');
  await search(page).fill('Well');
  traffic.release();
  await expect.poll(model).not.toBe(before);

  expect(await search(page).inputValue()).toBe('Well');
});

it('a model choice that is rejected late is reported on the page', async () => {
  const { page, traffic } = await inSession();
  traffic.hold('"command":"set_model"');
  traffic.replaceText(
    '"command":"set_model","success":true',
    '"command":"set_model","success":false,"error":"No such luck"',
  );
  const rejected = traffic.waitForFrame('"command":"set_model"');

  await page.keyboard.press('Control+k');
  await page.getByRole('option').last().click();
  await rejected;
  await page.keyboard.press('Escape');
  await page.locator('.picker').waitFor({ state: 'detached' });
  traffic.release();

  await page.getByRole('alert').getByText('No such luck').waitFor();
});

it('a compaction that is rejected after its form was closed is reported on the page', async () => {
  const { page, traffic } = await inSession();
  traffic.hold('"command":"compact"');
  const rejected = traffic.waitForFrame('"command":"compact"');

  await page.getByRole('button', { name: /^Context:/ }).click();
  await page.getByRole('button', { name: 'Compact now' }).click();
  await rejected;
  await page.keyboard.press('Escape');
  await page.getByRole('dialog', { name: 'Context and cost' }).waitFor({ state: 'hidden' });
  traffic.release();

  await page.getByRole('alert').getByText('Nothing to compact').waitFor();
});

it('an export has the name of the session that it was requested for', async () => {
  const { page, traffic } = await inSession();
  traffic.hold('"command":"export_html"');
  const exported = traffic.waitForFrame('"command":"export_html"');
  await page.getByRole('button', { name: 'Session', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Export' }).click();
  await exported;
  await page.getByRole('navigation', { name: 'Sessions' }).getByTitle('Session B').click();
  await page.waitForURL(/session=b/);

  const download = page.waitForEvent('download');
  traffic.release();

  expect((await download).suggestedFilename()).toBe('Session A.html');
});

it('a failed edit of a queued message does not change the edit of another', async () => {
  const gate = newGate();
  const script = [{ steps: [{ text: 'Well, ' }, { await: gate.path }, { text: 'done.' }] }];
  const { page } = await visitByLoginLink(visit, await servePage({ script }));
  let isDead = false;
  let disconnect = () => {};
  await page.routeWebSocket(/./, (socket) => {
    const server = socket.connectToServer();
    disconnect = () => void socket.close({ code: 4999 });
    socket.onMessage((message) => !isDead && server.send(message));
    server.onMessage((message) => !isDead && socket.send(message));
  });
  await page.reload();
  await submitPrompt(page, 'Go');
  await page.getByText('Well,').waitFor();
  const queue = page.locator('.queue');
  for (const text of ['First', 'Second']) {
    await messageBox(page).fill(text);
    await page.keyboard.press('Alt+Enter');
    await queue.getByText(text).waitFor();
  }
  const edit = (which: number) => queue.getByRole('button', { name: /^Edit/ }).nth(which).click();
  const editor = page.getByRole('textbox', { name: 'Queued message' });

  isDead = true;
  await edit(0);
  await editor.fill('First, changed');
  await page.keyboard.press('Enter');
  await edit(1);
  await editor.fill('Second, changed');
  isDead = false;
  disconnect();
  await expect.poll(() => page.locator('.message-box').inputValue()).toContain('First, changed');

  expect(await editor.inputValue()).toBe('Second, changed');
  gate.open();
});

it('sending the first message again does not show the welcome in between', async () => {
  const script = [{ steps: [{ error: { status: 400, message: 'No good' } }] }, { text: 'Fine now.' }];
  const { page } = await visitByLoginLink(visit, await servePage({ script }));
  await submitPrompt(page, 'Once');
  await button(page, 'Try again').waitFor();
  await page.evaluate(`{
    globalThis.seen = new Set();
    new MutationObserver(() => seen.add(document.querySelector('.list') !== null))
      .observe(document.querySelector('main'), { childList: true, subtree: true });
  }`);

  await button(page, 'Try again').click();
  await page.getByText('Fine now.').waitFor();

  expect(await page.evaluate('[...seen]')).toEqual([true]);
});

it('shortcuts do nothing behind the login form', async () => {
  const { page, view } = await inSession();
  const other = await openTab(view);
  await other.page.getByRole('button', { name: 'Log out' }).click();
  const token = page.getByLabel('Token');
  await token.waitFor();
  await token.focus();

  await page.keyboard.press('Control+Shift+O');
  await page.keyboard.press('Alt+ArrowDown');
  await waitForCondition(page, 'true');

  expect(page.url()).toContain('session=a');
});

it('keys of an input method choose nothing', async () => {
  const { page, traffic } = await inSession();
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox');
  await page.getByRole('option').first().waitFor();

  await field.evaluate((input) => {
    input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true }));
    input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true }));
  });

  await field.press('Enter');
  await field.waitFor({ state: 'detached' });

  expect(traffic.sent.filter((text) => text.includes('"set_model"'))).toHaveLength(1);
});
