import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { newHome, writeSettings } from '../support/agent/test-agent.ts';
import { openTab, useBrowser, type View } from '../support/page/browser.ts';
import {
  conversationRegion,
  topOfText,
  waitForCondition,
  waitUntilAtEnd,
  waitUntilScrollStops,
  waitUntilVisible,
} from '../support/page/conversation-view.ts';
import { visitByLoginLink } from '../support/page/page-actions.ts';
import { servePage, submitPrompt } from '../support/page/page-server.ts';
import { Traffic } from '../support/page/socket-frames.ts';
import { promptAt, storeLongConversation } from '../support/sessions/long-conversation.ts';

const ENTRIES = 1000;
const SUMMARY = 'Many parts were looked at.';

const { visit } = useBrowser();

interface Reader extends View {
  readonly traffic: Traffic;
}

/** Opens a long conversation of which a compaction keeps about this many tokens. */
async function openLong(keepRecentTokens: number): Promise<Reader> {
  const home = newHome();
  writeSettings(home, { compaction: { enabled: false, keepRecentTokens } });
  const session = storeLongConversation(home, ENTRIES);
  const server = await servePage({ home, script: Array(3).fill({ text: SUMMARY }) });
  const view = await visitByLoginLink(visit, server);
  const traffic = new Traffic();
  await traffic.watch(view.page);
  await view.page.goto(`${server.address}?session=${session}`);
  await waitUntilVisible(view.page, promptAt(ENTRIES - 4));
  return { ...view, traffic };
}

const HEIGHT = "document.querySelector('.list').scrollHeight";

const heightOf = (page: Page): Promise<number> => page.evaluate(HEIGHT);

/** Scrolls near the first loaded message and waits until earlier ones are loaded. */
async function loadEarlier(page: Page): Promise<void> {
  const before = await heightOf(page);
  await page.evaluate("document.querySelector('.list').scrollTop = 900");
  await waitForCondition(page, `${HEIGHT} > ${before + 5000}`);
  await waitUntilScrollStops(page);
}

/** Compacts in another tab, because sending a message scrolls its own tab to the end. */
async function compact({ traffic, ...view }: Reader): Promise<void> {
  const synced = traffic.waitForFrame('"state_synced"');
  const other = await openTab(view);
  await waitUntilVisible(other.page, promptAt(ENTRIES - 4));
  await submitPrompt(other.page, '/compact');
  await synced;
  await other.page.close();
}

const searchField = (page: Page) => page.getByRole('searchbox', { name: 'Search in the conversation' });

async function search(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+f');
  await searchField(page).fill(text);
}

it.each([
  ['keeps more messages than were loaded', 20_000],
  ['keeps few messages', 1000],
])('after a compaction that %s, search finds every earlier message', async (_, keepRecentTokens) => {
  const reader = await openLong(keepRecentTokens);
  const { page, complaints } = reader;
  await loadEarlier(page);
  await compact(reader);

  await search(page, promptAt(0));
  await page.getByText('1 of 1').waitFor();
  await waitUntilVisible(page, promptAt(0));
  await search(page, SUMMARY);
  await page.getByText('1 of 1').waitFor();
  await waitUntilVisible(page, SUMMARY);

  expect(complaints).toEqual([]);
});

it('a marker shows where the session was compacted, also after a reload, and leads to the summary', async () => {
  const { page, complaints } = await openLong(1000);
  const marker = conversationRegion(page).getByText('Compacted here');
  await submitPrompt(page, '/compact');
  await marker.waitFor();
  await waitUntilAtEnd(page);
  await page.reload();
  await marker.waitFor();
  await waitUntilAtEnd(page);
  await submitPrompt(page, 'go on');
  await waitUntilVisible(page, SUMMARY);
  const [position, next] = [await marker.boundingBox(), await topOfText(page, 'go on')];
  await page.getByRole('button', { name: 'Go to the summary' }).click();
  await waitUntilVisible(page, 'Compacted from');

  expect(position?.y).toBeLessThan(next);
  expect(await marker.count()).toBe(1);
  expect(complaints).toEqual([]);
});

it('a compaction does not move the replaced messages that are being read', async () => {
  const reader = await openLong(1000);
  const { page } = reader;
  await loadEarlier(page);
  const text = promptAt(800);
  await search(page, text);
  await waitUntilVisible(page, text);
  await page.keyboard.press('Escape');
  await waitUntilScrollStops(page);
  const [position, height] = [await topOfText(page, text), await heightOf(page)];
  await compact(reader);
  await waitForCondition(page, `${HEIGHT} !== ${height}`);
  await waitUntilScrollStops(page);

  expect(await topOfText(page, text)).toBeCloseTo(position, 0);
});

it('search continues when a compaction replaces the conversation meanwhile', async () => {
  const { page, traffic, complaints } = await openLong(20_000);
  traffic.hold('"state_synced"');
  const synced = traffic.waitForFrame('"state_synced"');
  await submitPrompt(page, '/compact');
  await synced;
  const rejected = traffic.waitForFrame('"not_found"');
  await search(page, promptAt(0));
  await rejected;
  traffic.release();

  await page.getByText('1 of 1').waitFor();
  await waitUntilVisible(page, promptAt(0));
  expect(complaints).toEqual([]);
});

it('a search that is closed at once requests no further messages', async () => {
  const { page, traffic } = await openLong(20_000);
  traffic.hold('"get_messages_page"');
  const response = traffic.waitForFrame('"get_messages_page"');
  const before = await heightOf(page);
  await page.evaluate("document.querySelector('.list').scrollTop = 900");
  await response;
  await search(page, 'nothing of that');
  await page.keyboard.press('Escape');
  await searchField(page).waitFor({ state: 'detached' });
  const requestsOfSearch = () => traffic.sent.filter((line) => line.includes('"limit":1000')).length;
  // On a busy machine the search may have begun before it was closed.
  const beforeClose = requestsOfSearch();
  traffic.release();
  await waitForCondition(page, `${HEIGHT} > ${before + 5000}`);
  await conversationRegion(page).getByText('Loading earlier messages').waitFor({ state: 'detached' });

  expect(requestsOfSearch()).toBe(beforeClose);
});
