import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { homeWithCommands, waitForFileCode } from '../support/agent/extensions.ts';
import { newGate, newHome } from '../support/agent/test-agent.ts';
import { openTab, useBrowser } from '../support/page/browser.ts';
import { waitForCondition } from '../support/page/conversation-view.ts';
import { button, messageBox, visitWithScopes, waitForDraft } from '../support/page/page-actions.ts';
import { servePage, submitPrompt } from '../support/page/page-server.ts';
import { watchFrames } from '../support/page/socket-frames.ts';
import { shortConversation, storedUserInputs, storeSession } from '../support/sessions/stored-session.ts';

const { visit } = useBrowser();

const isFocused = (page: Page) =>
  messageBox(page).evaluate((element) => element === element.ownerDocument.activeElement);

/** Waits until no run is active. */
const waitUntilIdle = (page: Page) => button(page, 'Stop').waitFor({ state: 'hidden' });

describe('Enter', () => {
  it('sends the message, and Shift+Enter starts a new line', async () => {
    const server = await servePage({ script: [{ text: 'Well.' }] });
    const view = await visit(server.loginLink);
    const { page } = view;
    const frames = await watchFrames(page);
    await messageBox(page).waitFor();

    const wasFocused = await isFocused(page);
    await page.keyboard.type('one');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('two');
    await page.keyboard.press('Enter');
    const left = await messageBox(page).inputValue();
    await frames.nextFromServer({ type: 'agent_settled' });

    expect([wasFocused, left, await isFocused(page)]).toEqual([true, '', true]);
    expect(storedUserInputs(server.home)).toEqual(['one\ntwo']);
    expect(await button(page, 'Send').isDisabled()).toBe(true);
    expect(view.complaints).toEqual([]);
  });

  it('does not send while an input method composes', async () => {
    const { page } = await visit((await servePage()).loginLink);
    await messageBox(page).fill('にほん');

    await messageBox(page).dispatchEvent('keydown', { key: 'Enter', isComposing: true });
    await page.keyboard.type('ご');

    expect(await messageBox(page).inputValue()).toBe('にほんご');
  });

  it('starts a new line on a phone, where the button sends and the box is not focused at first', async () => {
    const server = await servePage({ script: [{ text: 'Well.' }] });
    const { page } = await visit(server.loginLink, { width: 390, height: 844, hasTouch: true });
    const frames = await watchFrames(page);
    await page.getByPlaceholder('Write a message, the button sends it').waitFor();

    const wasFocused = await isFocused(page);
    await messageBox(page).tap();
    await page.keyboard.type('one');
    await page.keyboard.press('Enter');
    await page.keyboard.type('two');
    await button(page, 'Send').tap();
    await frames.nextFromServer({ type: 'agent_settled' });

    expect(wasFocused).toBe(false);
    expect(storedUserInputs(server.home)).toEqual(['one\ntwo']);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  });
});

describe('while a run is active', () => {
  it('Enter steers it, and Alt+Enter queues a follow-up', async () => {
    const gate = newGate();
    const steps = [{ text: 'Well, ' }, { await: gate.path }, { text: 'done.' }];
    const server = await servePage({ script: [{ steps }, { text: 'Briefly.' }, { text: 'More.' }] });
    const { page } = await visit(server.loginLink);
    const frames = await watchFrames(page);
    await submitPrompt(page, 'Talk');
    await page.getByText('Enter steers · Alt+Enter queues · Esc stops').waitFor();

    await messageBox(page).fill('And then more');
    await page.keyboard.press('Alt+Enter');
    await frames.nextFromServer({ type: 'queue_update' });
    await submitPrompt(page, 'Be brief');
    const { items } = await frames.nextFromServer({ type: 'queue_update' });
    gate.open();
    await frames.nextFromServer({ type: 'agent_settled' });

    const queueItems = items.map(({ kind, text }: { kind: string; text: string }) => `${kind}: ${text}`);
    expect(queueItems.sort()).toEqual(['followUp: And then more', 'steer: Be brief']);
    expect(storedUserInputs(server.home)).toEqual(['Talk', 'Be brief', 'And then more']);
    await button(page, 'Send').waitFor();
  });

  it('buttons steer and queue', async () => {
    const server = await servePage({ script: [{ steps: [{ text: 'Endless ' }, { stall: true }] }] });
    const { page } = await visit(server.loginLink);
    const frames = await watchFrames(page);
    await submitPrompt(page, 'Talk');
    await button(page, 'Stop').waitFor();

    await messageBox(page).fill('first');
    await button(page, 'Queue').click();
    await messageBox(page).fill('second');
    await button(page, 'Steer').click();
    const [queued, steered] = [
      await frames.nextFromPage({ message: 'first' }),
      await frames.nextFromPage({ message: 'second' }),
    ];

    expect([queued['streamingBehavior'], steered['streamingBehavior']]).toEqual(['followUp', 'steer']);
    expect(await button(page, 'Send').count()).toBe(0);
  });

  it.each(['Escape', 'Stop'])('%s stops it and puts queued messages back into the box', async (how) => {
    const script = [{ steps: [{ text: 'Endless ' }, { stall: true }] }, { text: 'Gladly.' }];
    const server = await servePage({ script });
    const view = await visit(server.loginLink);
    const { page } = view;
    const frames = await watchFrames(page);
    await submitPrompt(page, 'Talk');
    await button(page, 'Stop').waitFor();
    await messageBox(page).fill('Later');
    await page.keyboard.press('Alt+Enter');
    await frames.nextFromServer({ type: 'queue_update' });
    await submitPrompt(page, 'Sooner');
    await frames.nextFromServer({ type: 'queue_update' });
    await messageBox(page).fill('half a sen');

    if (how === 'Escape') await page.keyboard.press('Escape');
    else await button(page, 'Stop').click();
    await waitUntilIdle(page);
    await waitForDraft(page, 'Sooner\n\nLater\n\nhalf a sen');
    await submitPrompt(page, 'Talk again');
    await frames.nextFromServer({ type: 'agent_settled' });
    await frames.nextFromServer({ type: 'agent_settled' });

    expect(storedUserInputs(server.home)).toEqual(['Talk', 'Talk again']);
    expect(view.complaints).toEqual([]);
  });
});

describe('a message', () => {
  it('that is rejected is put back into the box', async () => {
    const { page } = await visit((await servePage()).loginLink);
    const frames = await watchFrames(page);

    await submitPrompt(page, '/model nobody/nothing');
    await frames.nextFromServer({ command: 'prompt', success: false });

    await waitForDraft(page, '/model nobody/nothing');
  });

  it('waits for the connection while disconnected', async () => {
    const server = await servePage({ script: [{ text: 'Well.' }, { text: 'Again.' }] });
    const { page } = await visit(server.loginLink);
    const frames = await watchFrames(page);
    await submitPrompt(page, 'Talk');
    await frames.nextFromServer({ type: 'agent_settled' });
    const lost = page.waitForEvent('console', (message) => message.text().includes('WebSocket'));
    await server.kill();
    await lost;

    await submitPrompt(page, 'Still there?');
    const inBox = await messageBox(page).inputValue();
    await server.restart();
    await frames.nextFromServer({ type: 'agent_settled' });

    expect(inBox).toBe('');
    expect(storedUserInputs(server.home)).toEqual(['Talk', 'Still there?']);
  });

  it('with a built-in command shows its output until it is closed', async () => {
    const { page } = await visit((await servePage()).loginLink);

    await submitPrompt(page, '/help');
    const output = page.getByRole('region', { name: 'Output of /help' });
    await output.getByText('/compact [instructions]').waitFor();
    await page.keyboard.press('Escape');

    await output.waitFor({ state: 'detached' });
  });
});

describe('drafts', () => {
  it('are kept per session over a reload and removed once sent', async () => {
    const server = await servePage({ script: [{ text: 'Well.' }, { text: 'Again.' }] });
    const view = await visit(server.loginLink);
    const { page } = view;
    const frames = await watchFrames(page);
    await submitPrompt(page, 'Talk');
    await frames.nextFromServer({ type: 'agent_settled' });
    await page.waitForURL(/session=/);

    await messageBox(page).fill('half a sen');
    const other = await openTab(view, server.address);
    await messageBox(other.page).waitFor();
    await page.reload();
    await waitForDraft(page, 'half a sen');
    const inOther = await messageBox(other.page).inputValue();
    await page.keyboard.type('tence');
    await page.keyboard.press('Enter');
    await frames.nextFromServer({ type: 'agent_settled' });
    await page.reload();
    await messageBox(page).waitFor();

    expect(inOther).toBe('');
    expect(await messageBox(page).inputValue()).toBe('');
    expect(view.complaints).toEqual([]);
  });

  it('appear in another tab of the session while its box is empty', async () => {
    const server = await servePage({ script: [{ text: 'Well.' }] });
    const one = await visit(server.loginLink);
    const frames = await watchFrames(one.page);
    await submitPrompt(one.page, 'Talk');
    await frames.nextFromServer({ type: 'agent_settled' });
    await one.page.waitForURL(/session=/);
    const other = await openTab(one);
    await messageBox(other.page).waitFor();

    await messageBox(one.page).fill('from one');
    await waitForDraft(other.page, 'from one');
    await messageBox(other.page).fill('from the other');
    await waitForCondition(one.page, "Object.values(localStorage).some((kept) => kept.includes('from the other'))");
    await other.page.evaluate(`addEventListener('storage', ({ newValue }) => {
      if (newValue?.includes('from one, again')) requestAnimationFrame(() => (window.isStored = true));
    })`);
    await messageBox(one.page).fill('from one, again');
    await waitForCondition(other.page, 'window.isStored');

    expect(await messageBox(other.page).inputValue()).toBe('from the other');
  });

  it('are replaced by the text of an extension and recalled by ArrowUp', async () => {
    const gate = newGate();
    const { home } = homeWithCommands({
      put: `${waitForFileCode(JSON.stringify(gate.path))} ctx.ui.setEditorText('of an extension');`,
    });
    const { page } = await visit((await servePage({ home })).loginLink);
    const frames = await watchFrames(page);
    await submitPrompt(page, '/put');
    await frames.nextFromPage({ message: '/put' });

    await messageBox(page).fill('mine');
    gate.open();
    await waitForDraft(page, 'of an extension');
    await messageBox(page).fill('');
    await page.keyboard.press('ArrowUp');

    expect(await messageBox(page).inputValue()).toBe('mine');
  });

  it('are not replaced by text that an extension sets in a new session', async () => {
    const gate = newGate();
    const { home } = homeWithCommands({
      move: `${waitForFileCode(JSON.stringify(gate.path))} await ctx.newSession(); ctx.ui.setEditorText('for the new one');`,
    });
    const { page } = await visit((await servePage({ home })).loginLink);
    const frames = await watchFrames(page);
    await submitPrompt(page, 'say hello');
    await frames.nextFromServer({ type: 'agent_settled' });
    await page.waitForURL(/session=/);
    await submitPrompt(page, '/move');
    await frames.nextFromPage({ message: '/move' });

    await messageBox(page).fill('mine');
    // Drawing waits until both events have arrived.
    await page.evaluate(
      'window.held = []; window.draw = requestAnimationFrame; requestAnimationFrame = (f) => held.push(f)',
    );
    gate.open();
    await frames.nextFromServer({ method: 'set_editor_text' });
    await page.evaluate('requestAnimationFrame = draw; held.forEach((f) => draw(f))');
    await page.waitForURL((url) => !url.search.includes('session='));
    await waitForDraft(page, 'for the new one');
    await page.goBack();

    await waitForDraft(page, 'mine');
  });
});

it('arrow keys recall earlier messages, also after a reload', async () => {
  const script = [{ text: 'Well.' }, { text: 'Well.' }];
  const { page } = await visit((await servePage({ script })).loginLink);
  const frames = await watchFrames(page);
  for (const text of ['first', 'second\nline']) {
    await messageBox(page).fill(text);
    await page.keyboard.press('Enter');
    await frames.nextFromServer({ type: 'agent_settled' });
  }
  await submitPrompt(page, '!true');
  await frames.nextFromServer({ command: 'bash', success: true });
  await page.waitForURL(/session=/);
  const press = async (keys: readonly string[]) => {
    const seen: string[] = [];
    for (const key of keys) {
      await page.keyboard.press(key);
      seen.push(await messageBox(page).inputValue());
    }
    return seen;
  };
  const up = ['ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowUp'];

  const seen = await press([...up, 'ArrowDown', 'ArrowDown', 'ArrowDown']);
  await page.reload();
  await frames.nextFromServer({ type: 'state_synced' });
  await page.getByText('first').first().waitFor();
  await messageBox(page).and(page.locator(':focus')).waitFor();
  const again = await press(up);

  expect(seen).toEqual(['!true', 'second\nline', 'first', 'first', 'second\nline', '!true', '']);
  expect(again).toEqual(seen.slice(0, 4));
});

it('arrow keys with modifiers do not recall earlier messages', async () => {
  const home = newHome();
  for (const id of ['one', 'two']) storeSession(home, shortConversation(home.cwd, { id }), { name: `${id}.jsonl` });
  const { page } = await visit((await servePage({ home })).loginLink);
  await page.getByRole('navigation', { name: 'Sessions' }).getByRole('link').nth(1).click();
  await page.waitForURL(/session=/);
  await page.getByRole('main').getByText('first').first().waitFor();
  await messageBox(page).and(page.locator(':focus')).waitFor();
  const second = page.url();

  for (const keys of ['Shift+ArrowUp', 'Control+ArrowUp']) await page.keyboard.press(keys);
  const left = await messageBox(page).inputValue();
  await page.keyboard.press('Alt+ArrowUp');
  await page.waitForURL((url) => url.href !== second);

  expect([left, await messageBox(page).inputValue()]).toEqual(['', '']);
});

it('a shell line of a login that may not run commands is rejected and stays in the box', async () => {
  const { page } = await visitWithScopes(visit, await servePage(), { scopes: 'view,prompt' });
  await messageBox(page).waitFor();

  await submitPrompt(page, '!ls');
  await page.getByRole('alert').getByText('This login may not run commands in the shell.').waitFor();

  expect(await messageBox(page).inputValue()).toBe('!ls');
});

it('the box grows with its text, up to 40% of the page', async () => {
  const { page } = await visit((await servePage()).loginLink);
  await messageBox(page).waitFor();
  const height = async () => (await messageBox(page).boundingBox())?.height ?? 0;

  const empty = await height();
  await messageBox(page).fill('line\n'.repeat(5));
  const some = await height();
  await messageBox(page).fill('line\n'.repeat(500));
  const many = await height();

  expect(some).toBeGreaterThan(empty * 2);
  expect(many).toBeLessThanOrEqual(800 * 0.4);
});
