import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { FILLER, fastRetryHome } from '../support/agent/compaction.ts';
import { bash } from '../support/agent/extensions.ts';
import { newGate, newHome, readSessionFile, sessionFiles } from '../support/agent/test-agent.ts';
import { openTab, useBrowser } from '../support/page/browser.ts';
import {
  conversationRegion,
  distanceFromEnd,
  topOfText,
  waitUntilAtEnd,
  waitUntilScrollStops,
  waitUntilVisible,
} from '../support/page/conversation-view.ts';
import { visibleText } from '../support/page/export-page.ts';
import { visitByLoginLink, waitForDraft } from '../support/page/page-actions.ts';
import { servePage, submitPrompt } from '../support/page/page-server.ts';
import { assistantEntry, header, storeSession, userEntry } from '../support/sessions/stored-session.ts';

const { visit } = useBrowser();

/** A picture of one pixel. */
const DOT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const jump = (page: Page) => page.getByRole('button', { name: 'Jump to latest' });

/** Paragraphs numbered from 0. */
const paragraphs = (name: string, count: number) =>
  Array.from({ length: count }, (_, number) => `${name} ${number} ${FILLER}\n\n`).join('');

/** Waits for the announcement to screen readers. */
const waitUntilComplete = (page: Page) => page.getByText('The answer is complete.').waitFor({ state: 'attached' });

it('the list follows new text while it is at the end, and stays in place once the reader scrolls up', async () => {
  const gates = [newGate(), newGate()];
  const [first, second] = gates.map(({ path }) => ({ await: path }));
  const steps = [{ text: paragraphs('alpha', 20) }, first, { text: paragraphs('beta', 20) }, second];
  const server = await servePage({
    script: [{ steps: [...steps, { text: paragraphs('gamma', 20) }] }, { text: 'Next.' }],
  });
  const { page, complaints } = await visit(server.loginLink);

  await submitPrompt(page, 'go');
  await waitUntilVisible(page, 'alpha 19');
  await waitUntilAtEnd(page);
  gates[0]?.open();
  await waitUntilVisible(page, 'beta 19');
  await waitUntilAtEnd(page);
  await conversationRegion(page).hover();
  await page.mouse.wheel(0, -700);
  await jump(page).waitFor();
  await waitUntilScrollStops(page);
  const before = await topOfText(page, 'beta 15');
  gates[1]?.open();
  await waitUntilComplete(page);

  expect(await topOfText(page, 'beta 15')).toBe(before);
  expect(await distanceFromEnd(page)).toBeGreaterThan(1000);
  await jump(page).click();
  await waitUntilVisible(page, 'gamma 19');
  await waitUntilAtEnd(page);
  expect(complaints).toEqual([]);
});

it('parts unfolded or expanded while streaming stay so after scrolling away and back', async () => {
  const gate = newGate();
  const command = bash('seq 1 400 && mkfifo gate && cat gate');
  const server = await servePage({
    script: [
      { steps: [{ thinking: 'I have to count.' }, { await: gate.path }, { text: 'Let me.' }, ...command.steps] },
      { text: paragraphs('alpha', 60) },
    ],
  });
  const { page, complaints } = await visit(server.loginLink);
  const [thought, line] = [page.locator('.thinking .markdown'), page.locator('.output').getByText('1\n2\n3\n')];

  await submitPrompt(page, 'go');
  await page.locator('.thinking summary').click();
  await thought.waitFor();
  gate.open();
  await page.getByRole('button', { name: 'Show all 400 lines' }).click();
  await line.waitFor();
  await writeFile(join(server.home.cwd, 'gate'), '');
  await waitUntilComplete(page);
  await conversationRegion(page).focus();
  await page.keyboard.press('End');
  await waitUntilAtEnd(page);
  await page.locator('.thinking').waitFor({ state: 'detached' });
  await page.keyboard.press('Home');

  await thought.getByText('I have to count.').waitFor();
  await line.waitFor();
  expect(complaints).toEqual([]);
});

it('PageUp and Home stop following the end, End follows it again', async () => {
  const gate = newGate();
  const script = [
    { steps: [{ text: paragraphs('alpha', 40) }, { await: gate.path }, { text: paragraphs('beta', 5) }] },
  ];
  const server = await servePage({ script });
  const { page } = await visit(server.loginLink);
  await submitPrompt(page, 'go');
  await waitUntilVisible(page, 'alpha 39');

  await conversationRegion(page).focus();
  await page.keyboard.press('PageUp');
  await jump(page).waitFor();
  await page.keyboard.press('Home');
  await waitUntilVisible(page, 'go');
  gate.open();
  await waitUntilComplete(page);
  const scrollTop = await page.evaluate('document.querySelector(".list").scrollTop');
  await page.keyboard.press('End');
  await waitUntilVisible(page, 'beta 4');
  await waitUntilAtEnd(page);

  expect(scrollTop).toBe(0);
});

it('End scrolls to the end even while the list still scrolls up', async () => {
  const server = await servePage({ script: [{ text: paragraphs('alpha', 40) }] });
  const { page } = await visit(server.loginLink);
  await submitPrompt(page, 'go');
  await waitUntilComplete(page);
  await conversationRegion(page).focus();

  await page.keyboard.press('PageUp');
  await jump(page).waitFor();
  await page.keyboard.press('End');
  await waitUntilScrollStops(page);

  expect(await distanceFromEnd(page)).toBeLessThanOrEqual(1);
  await jump(page).waitFor({ state: 'detached' });
});

it('new messages are marked while the list is scrolled up; sending a message scrolls to the end', async () => {
  const server = await servePage({
    script: [{ text: paragraphs('alpha', 40) }, { text: 'Well.' }, { text: 'Once more.' }],
  });
  const view = await visit(server.loginLink);
  const { page } = view;
  await submitPrompt(page, 'go');
  await waitUntilComplete(page);
  const other = await openTab(view);
  await conversationRegion(page).focus();
  await page.keyboard.press('Home');
  await page.getByRole('button', { name: 'Jump to latest', exact: true }).waitFor();

  await submitPrompt(other.page, 'from elsewhere');
  await page.getByRole('button', { name: 'Jump to latest: something new' }).waitFor();
  const scrollTop = await page.evaluate('document.querySelector(".list").scrollTop');
  await submitPrompt(page, 'from here');
  await waitUntilVisible(page, 'Once more.');

  expect(scrollTop).toBe(0);
  await jump(page).waitFor({ state: 'detached' });
});

it('a reload in mid-stream continues the assistant message', async () => {
  const gate = newGate();
  const script = [{ steps: [{ text: paragraphs('alpha', 20) }, { await: gate.path }, { text: 'and the rest.' }] }];
  const server = await servePage({ script });
  const { page, complaints } = await visit(server.loginLink);
  await submitPrompt(page, 'go');
  await waitUntilVisible(page, 'alpha 19');

  await page.reload();
  await waitUntilVisible(page, 'alpha 19');
  await waitUntilAtEnd(page);
  await page.getByText('Working…').waitFor();
  gate.open();
  await waitUntilVisible(page, 'and the rest.');
  await waitUntilComplete(page);
  await waitUntilAtEnd(page);

  expect(await conversationRegion(page).getByText('alpha 19').count()).toBe(1);
  expect(await page.getByText('Working…').count()).toBe(0);
  expect(complaints).toEqual([]);
});

it('the layout does not shift while a message with code, lists and tools streams', async () => {
  const gate = newGate();
  const code = `\`\`\`ts\n${'export const one = 1; // first\n'.repeat(20)}\`\`\`\n\n`;
  const list = '- a point\n- another one\n\n1. first\n2. second\n\n';
  const part = (name: string) => ({ text: `${paragraphs(name, 4)}${code}${list}`, delayMs: 1 });
  const script = [
    { steps: [{ await: gate.path }, { thinking: FILLER }, part('alpha'), ...bash('seq 1 40').steps] },
    { steps: [part('beta'), ...bash('seq 1 5; exit 3').steps] },
    { steps: [part('gamma'), part('delta')] },
  ];
  const server = await servePage({ script });
  const view = await visit(server.loginLink);
  await submitPrompt(view.page, 'wait');
  await view.page.waitForURL(/session=/);
  const { page } = await openTab(view);
  await waitUntilVisible(page, 'wait');
  await page.evaluate(`globalThis.shifts = [];
    new PerformanceObserver((seen) => shifts.push(...seen.getEntries())).observe({ type: 'layout-shift' });`);

  gate.open();
  await waitUntilComplete(page);
  await waitUntilVisible(page, 'delta 3');

  // This tab had no input, so the browser excludes no shift.
  expect(await page.evaluate('shifts.reduce((sum, { value }) => sum + value, 0)')).toBeLessThanOrEqual(0.01);
});

it('messages that a compaction replaced stay readable above its summary', async () => {
  const home = fastRetryHome();
  const script = [{ text: 'one' }, { text: 'two' }, { text: 'What was said, in short.' }];
  const server = await servePage({ home, script });
  const { page, complaints } = await visit(server.loginLink);
  await submitPrompt(page, `first ${FILLER}`);
  await waitUntilComplete(page);
  await submitPrompt(page, `second ${FILLER}`);
  await conversationRegion(page).getByText('two', { exact: true }).waitFor();
  await waitUntilComplete(page);

  await submitPrompt(page, '/compact');
  await conversationRegion(page).getByText('Compacted from').waitFor();
  await conversationRegion(page).getByText(`first ${FILLER}`.trim()).waitFor();
  const inOrder = await visibleText(page.getByRole('article'));
  await page.reload();
  await conversationRegion(page).getByText(`first ${FILLER}`.trim()).waitFor();

  const marks = ['first', 'one', 'Compacted', 'second', 'two'];
  const positions = marks.map((mark) => inOrder.indexOf(mark));
  expect(positions).toEqual([...positions].sort((one, other) => one - other));
  expect(positions).not.toContain(-1);
  expect(await visibleText(page.getByRole('article'))).toBe(inOrder);
  expect(complaints).toEqual([]);
});

it('a retry is shown with its reason and can be cancelled', async () => {
  const error = { status: 529, message: 'Overloaded', retryAfterMs: 60_000 };
  const server = await servePage({ script: [{ steps: [{ text: 'Well, ' }, { error }] }] });
  const { page } = await visit(server.loginLink);

  await submitPrompt(page, 'go');
  await page.getByText(/Trying again in \d+ s \(1 of 3\): 529 Overloaded/).waitFor();
  await page.getByRole('button', { name: 'Cancel retry' }).click();

  await page.getByRole('button', { name: 'Cancel retry' }).waitFor({ state: 'detached' });
  await page.getByText('The answer failed.').waitFor({ state: 'attached' });
  await page.getByRole('alert').getByText('529 Overloaded').waitFor();
});

it('Try again sends a failed prompt again with its picture and replaces the failure', async () => {
  const failure = { steps: [{ error: { status: 400, message: 'No good' } }] };
  const server = await servePage({ script: [{ text: 'Hello.' }, failure, { text: 'Fine now.' }] });
  const { page, complaints } = await visit(server.loginLink);
  await submitPrompt(page, 'first');
  await conversationRegion(page).getByText('Hello.').waitFor();
  await page.locator('input[type=file]').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: DOT });
  await page.getByRole('list', { name: 'Attachments' }).getByRole('img', { name: 'a.png' }).waitFor();
  await submitPrompt(page, 'second');
  await conversationRegion(page).getByText('400 No good').waitFor();

  const again = await page.getByRole('button', { name: 'Try again' }).boundingBox();
  const composer = await page.locator('.composer').boundingBox();
  await page.getByRole('button', { name: 'Try again' }).click();
  await conversationRegion(page).getByText('Fine now.').waitFor();
  await page.getByRole('button', { name: 'Try again' }).waitFor({ state: 'detached' });

  const shown = await visibleText(conversationRegion(page));
  const [file = ''] = sessionFiles(server.home);
  const userContents = readSessionFile(file).flatMap(({ message }) =>
    message?.role === 'user' ? [JSON.stringify(message.content)] : [],
  );
  expect((composer?.y ?? 0) - (again?.y ?? 0) - (again?.height ?? 0)).toBeGreaterThanOrEqual(8);
  expect(shown).not.toContain('No good');
  expect(shown.split('second')).toHaveLength(2);
  expect(userContents[2]).toContain('image/png');
  expect(userContents.slice(1)).toEqual([userContents[1], userContents[1]]);
  expect(complaints).toEqual([]);
});

it('Continue continues a run that ended after its tools', async () => {
  const home = newHome();
  const content = [{ type: 'toolCall', id: 'call-1', name: 'bash', arguments: { command: 'true' } }];
  const entries = [userEntry('u', null, 'go'), assistantEntry('a', 'u', '', { content, stopReason: 'toolUse' })];
  storeSession(home, [header(home.cwd), ...entries]);
  const server = await servePage({ home, script: [{ text: 'All done.', when: 'Continue' }] });
  const { page, complaints } = await visit(server.loginLink);
  await page.getByRole('region', { name: 'Today' }).getByRole('link').click();
  await page.getByText('The run ended before an answer came.').waitFor();

  await page.getByRole('button', { name: 'Continue' }).click();

  await conversationRegion(page).getByText('All done.').waitFor();
  expect(complaints).toEqual([]);
});

it('a prompt whose Try again is rejected is put back into the box', async () => {
  const failure = { steps: [{ error: { status: 400, message: 'No good' } }] };
  const { page } = await visitByLoginLink(visit, await servePage({ script: [failure] }));
  let rejectsPrompts = false;
  await page.routeWebSocket(/./, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((text) => {
      const { type, id } = JSON.parse(String(text));
      if (!rejectsPrompts || type !== 'prompt') server.send(text);
      else socket.send(JSON.stringify({ type: 'response', id, command: type, success: false, error: 'Not now' }));
    });
  });
  await page.reload();
  await submitPrompt(page, 'first');
  await conversationRegion(page).getByText('400 No good').waitFor();
  rejectsPrompts = true;

  await page.getByRole('button', { name: 'Try again' }).click();

  await page.getByRole('alert').getByText('Not now').waitFor();
  await waitForDraft(page, 'first');
});

it('Try again keeps messages that another client sent meanwhile', async () => {
  const failure = { steps: [{ error: { status: 400, message: 'No good' } }] };
  const view = await visitByLoginLink(visit, await servePage({ script: [failure, { text: 'Fine now.' }] }));
  const { page } = view;
  const held: (() => void)[] = [];
  await page.routeWebSocket(/./, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((text) => {
      const send = () => server.send(text);
      if (JSON.parse(String(text)).type === 'get_fork_messages') held.push(send);
      else send();
    });
  });
  await page.reload();
  await submitPrompt(page, 'first');
  await conversationRegion(page).getByText('400 No good').waitFor();
  await page.waitForURL(/session=/);
  const other = await openTab(view);
  await conversationRegion(other.page).getByText('400 No good').waitFor();

  await page.getByRole('button', { name: 'Try again' }).click();
  await expect.poll(() => held).toHaveLength(1);
  await submitPrompt(other.page, 'something else');
  await conversationRegion(other.page).getByText('Fine now.').waitFor();
  for (const send of held) send();

  await page.getByRole('alert').getByText('The conversation has continued meanwhile').waitFor();
  for (const tab of [page, other.page]) expect(await visibleText(conversationRegion(tab))).toContain('something else');
});

it('the announcement of a complete answer is not repeated in the next session', async () => {
  const { page } = await visitByLoginLink(visit, await servePage({ script: [{ text: 'Well.' }] }));
  await submitPrompt(page, 'Talk');
  await waitUntilComplete(page);
  await page.waitForURL(/session=/);

  await submitPrompt(page, '/new');
  await page.waitForURL((url) => !url.search.includes('session='));
  await page.getByRole('heading', { name: 'New session' }).waitFor();

  expect(await page.getByText('The answer is complete.').count()).toBe(0);
});
