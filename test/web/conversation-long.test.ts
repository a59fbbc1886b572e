import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { bash } from '../support/agent/extensions.ts';
import { newHome } from '../support/agent/test-agent.ts';
import { useBrowser, type View } from '../support/page/browser.ts';
import {
  conversationRegion,
  countRenderedMessages,
  waitForCondition,
  waitUntilAtEnd,
  waitUntilVisible,
} from '../support/page/conversation-view.ts';
import { visibleText } from '../support/page/export-page.ts';
import { visitByLoginLink } from '../support/page/page-actions.ts';
import { servePage, submitPrompt } from '../support/page/page-server.ts';
import { watchFrames } from '../support/page/socket-frames.ts';
import { interceptingAgentArgs } from '../support/server/intercepting-agent.ts';
import { promptAt, storeLongConversation } from '../support/sessions/long-conversation.ts';
import { assistantEntry, entry, header, storeSession, userEntry } from '../support/sessions/stored-session.ts';

const ENTRIES = 10_000;
const FEW = 100;

const { visit } = useBrowser();

async function openLong(): Promise<View> {
  const home = newHome();
  const session = storeLongConversation(home, ENTRIES);
  const server = await servePage({ home });
  const view = await visitByLoginLink(visit, server);
  await view.page.goto(`${server.address}?session=${session}`);
  await waitUntilVisible(view.page, promptAt(ENTRIES - 4));
  return view;
}

/** Presses Home until the first message of the session is loaded. */
async function scrollToStart(page: Page): Promise<void> {
  const first = page.getByRole('article').first();
  await conversationRegion(page).focus();
  for (let before = ''; !before.includes(promptAt(0)); before = await visibleText(first)) {
    await page.keyboard.press('Home');
    await first.and(page.getByRole('article').filter({ hasNotText: before || 'nothing yet' })).waitFor();
  }
}

it('a long conversation opens at its end with few rows rendered, and scrolls to its start and back', async () => {
  const { page, complaints } = await openLong();
  const jump = page.getByRole('button', { name: 'Jump to latest' });
  await waitUntilAtEnd(page);
  const rowsAtEnd = await countRenderedMessages(page);

  await scrollToStart(page);
  await waitUntilVisible(page, promptAt(0));
  const rowsAtStart = await countRenderedMessages(page);
  await jump.click();
  await waitUntilVisible(page, promptAt(ENTRIES - 4));
  await waitUntilAtEnd(page);
  await jump.waitFor({ state: 'detached' });

  expect(Math.max(rowsAtEnd, rowsAtStart, await countRenderedMessages(page))).toBeLessThan(FEW);
  expect(complaints).toEqual([]);
});

it('loading earlier messages does not move the visible ones', async () => {
  const { page } = await openLong();

  // Scrolls near the first loaded message, then measures in every frame until earlier ones are loaded.
  const seen = await page.evaluate(`(async () => {
    const list = document.querySelector('.list');
    const frame = () => new Promise(requestAnimationFrame);
    list.scrollTop = 900;
    await frame();
    const line = list.getBoundingClientRect().top;
    const row = [...document.querySelectorAll('article')].find((one) => one.getBoundingClientRect().top > line);
    const before = list.scrollHeight;
    const tops = [row.getBoundingClientRect().top];
    while (list.scrollHeight < before + 5000) {
      await frame();
      tops.push(row.getBoundingClientRect().top);
    }
    await frame();
    tops.push(row.getBoundingClientRect().top);
    return { tops, isThere: row.isConnected, scrollTop: list.scrollTop };
  })()`);

  const { tops, isThere, scrollTop } = seen as { tops: number[]; isThere: boolean; scrollTop: number };
  expect(isThere).toBe(true);
  expect(scrollTop).toBeGreaterThan(5000);
  for (const top of tops) expect(Math.abs(top - (tops[0] ?? 0))).toBeLessThan(1);
});

it('earlier messages are loaded although a new snapshot makes their first page outdated', async () => {
  const home = newHome();
  const session = storeLongConversation(home, 500);
  // Sends the first page after the new snapshot and the statistics that the page requests for it.
  const intercept = `
    const isPage = request.type === 'get_messages_page' && request.cursor !== undefined;
    if (isPage && !intercept.page) {
      intercept.page = JSON.stringify(request);
      say({ type: 'state_changed', state: { messageCount: 500 } });
      return true;
    }
    if (request.type === 'get_session_stats' && intercept.page && !intercept.isSent) {
      intercept.isSent = true;
      tau.stdin.write(JSON.stringify(request) + '\\n' + intercept.page + '\\n');
      return true;
    }`;
  const server = await servePage({ home, args: interceptingAgentArgs(home, intercept) });
  const { page } = await visitByLoginLink(visit, server);
  await page.goto(`${server.address}?session=${session}`);
  await waitUntilVisible(page, promptAt(496));

  await page.evaluate(`(() => {
    const list = document.querySelector('.list');
    window.loadedHeight = list.scrollHeight;
    list.scrollTop = 0;
  })()`);
  await waitForCondition(page, "document.querySelector('.list').scrollHeight > window.loadedHeight + 1000");
});

it('earlier messages load at the start of the list, also when the visible result becomes part of its call', async () => {
  const home = newHome();
  const prompts = Array.from({ length: 400 }, (_, at) => userEntry(`u${at}`, at === 0 ? null : `u${at - 1}`, 'Hm'));
  const call = { type: 'toolCall', id: 'call-1', name: 'ls', arguments: {} };
  // The first snapshot has room for this message only.
  const content = [{ type: 'text', text: 'x'.repeat(300_000) }];
  const result = { role: 'toolResult', toolCallId: 'call-1', toolName: 'ls', content, isError: true, timestamp: 1 };
  const calling = assistantEntry('calling', 'u399', '', { content: [call], stopReason: 'toolUse' });
  const answered = entry('message', 'answered', 'calling', { message: result });
  storeSession(home, [header(home.cwd), ...prompts, calling, answered]);
  const server = await servePage({ home });
  const { page, complaints } = await visitByLoginLink(visit, server, { height: 500 });
  await page.goto(`${server.address}?session=stored-1`);
  const frames = await watchFrames(page);
  await page.locator('.list .tool').waitFor();

  await page.evaluate("document.querySelector('.list').scrollTop = 0");
  await frames.nextFromPage({ type: 'get_messages_page' });
  await frames.nextFromPage({ type: 'get_messages_page' });

  expect(complaints).toEqual([]);
});

it('search loads all messages, finds a word of the oldest one and scrolls to it', async () => {
  const { page, complaints } = await openLong();
  const field = page.getByRole('searchbox', { name: 'Search in the conversation' });
  const position = page.getByText(/^\d+ of 27 messages$/);

  await page.keyboard.press('Control+f');
  await field.fill(promptAt(0).toUpperCase());
  await page.getByText('1 of 1').waitFor();
  await waitUntilVisible(page, promptAt(0));
  await waitForCondition(page, "CSS.highlights.get('current')?.size === 1");
  await field.fill(promptAt(996));
  await page.getByText('1 of 1').waitFor();
  await waitUntilVisible(page, promptAt(996));
  await field.fill('src/part-99');
  const first = Number.parseInt(await visibleText(position), 10);
  await page.keyboard.press('Enter');
  await page.getByText(`${first + 1} of 27`).waitFor();
  await page.keyboard.press('Shift+Enter');
  await page.getByText(`${first} of 27`).waitFor();
  await field.fill('no such word anywhere');
  await page.getByText('No matches').waitFor();
  await page.keyboard.press('Escape');
  await field.waitFor({ state: 'detached' });

  await waitForCondition(page, 'CSS.highlights.size === 0');
  expect(await countRenderedMessages(page)).toBeLessThan(FEW);
  expect(complaints).toEqual([]);
});

it('search starts at the visible message and steps from there, even before a redraw', async () => {
  const home = newHome();
  const question = (at: number) => userEntry(`u${at}`, at === 0 ? null : `u${at - 1}`, `Needle ${at}, needle`);
  storeSession(home, [header(home.cwd), ...[0, 1, 2].map(question)]);
  const server = await servePage({ home });
  const { page, complaints } = await visitByLoginLink(visit, server);
  await page.goto(`${server.address}?session=stored-1`);
  await waitUntilVisible(page, 'Needle 2');
  await page.keyboard.press('Control+f');

  // All input is dispatched before anything is drawn.
  await page.evaluate(`(() => {
    globalThis.states = new Set();
    const look = () => states.add(document.querySelector('.find-state')?.textContent);
    new MutationObserver(look).observe(document.querySelector('.find'), { subtree: true, childList: true });
    const field = document.querySelector('.find input');
    field.value = 'needle';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', shiftKey: true, bubbles: true }));
  })()`);
  await page.getByText('2 of 3 messages').waitFor();
  await page.keyboard.press('Space');
  await page.keyboard.press('Enter');
  await page.getByText('3 of 3 messages').waitFor();

  expect(await page.evaluate(`[...states].filter((text) => text?.startsWith('0'))`)).toEqual([]);
  expect(complaints).toEqual([]);
});

it('search colours at most 2,000 matches', async () => {
  const home = newHome();
  const long = assistantEntry('bbbbbbbb', 'aaaaaaaa', 'ж '.repeat(150_000));
  storeSession(home, [header(home.cwd), userEntry('aaaaaaaa', null, 'first'), long]);
  const { page, complaints } = await visit((await servePage({ home })).loginLink);
  await page.getByRole('navigation', { name: 'Sessions' }).getByRole('link', { name: 'first' }).click();
  await page.locator('.response').waitFor();

  await page.keyboard.press('Control+f');
  await page.keyboard.type('ж');
  await page.getByText('1 of 1').waitFor();

  await waitForCondition(
    page,
    "CSS.highlights.get('found')?.size === 2000 && CSS.highlights.get('current')?.size === 2000",
  );
  expect(complaints).toEqual([]);
});

it('search unfolds a folded match', async () => {
  const { page } = await openLong();
  const result = 'export const part = 9962;';

  await page.keyboard.press('Control+f');
  await page.keyboard.type(result);
  await page.getByText('1 of 1').waitFor();

  await conversationRegion(page).getByText(result).first().waitFor({ state: 'visible' });
  await waitForCondition(page, "CSS.highlights.get('current')?.size > 0");
});

it('search expands a clipped match inside a folded part', async () => {
  const server = await servePage({ script: [bash('seq 1 400'), { text: 'Counted.' }] });
  const { page } = await visit(server.loginLink);
  await submitPrompt(page, 'Count');
  await page.getByText('Counted.').waitFor();
  await page.reload();
  await page.getByText('Counted.').waitFor();

  await page.keyboard.press('Control+f');
  await page.keyboard.type('123');
  await page.getByText('1 of 1').waitFor();

  await waitForCondition(page, "CSS.highlights.get('current')?.size > 0");
  await conversationRegion(page).getByText('122\n123\n124').waitFor();
});
