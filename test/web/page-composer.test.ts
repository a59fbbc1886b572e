import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openTab, useBrowser } from '../support/browser.ts';
import { commandHome, untilThere } from '../support/extensions.ts';
import { newGate, newHome } from '../support/open.ts';
import { framesOf } from '../support/page-frames.ts';
import { box, button, holds, visitAs } from '../support/page-hands.ts';
import { say, servePage } from '../support/page-server.ts';
import { until } from '../support/reading.ts';
import { conversation, keepSession, said } from '../support/stored-session.ts';

const { visit } = useBrowser();

const isFocused = (page: Page) => box(page).evaluate((element) => element === element.ownerDocument.activeElement);

/** Waits until nothing runs. */
const atRest = (page: Page) => button(page, 'Stop').waitFor({ state: 'hidden' });

describe('Enter', () => {
  it('sends what is written, and Shift with it begins a new line', async () => {
    const server = await servePage({ script: [{ text: 'Well.' }] });
    const view = await visit(server.loginLink);
    const { page } = view;
    const frames = await framesOf(page);
    await box(page).waitFor();

    const wasFocused = await isFocused(page);
    await page.keyboard.type('one');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('two');
    await page.keyboard.press('Enter');
    const left = await box(page).inputValue();
    await frames.heard({ type: 'agent_settled' });

    expect([wasFocused, left, await isFocused(page)]).toEqual([true, '', true]);
    expect(said(server.home)).toEqual(['one\ntwo']);
    expect(await button(page, 'Send').isDisabled()).toBe(true);
    expect(view.complaints).toEqual([]);
  });

  it('belongs to whoever composes letters with it', async () => {
    const { page } = await visit((await servePage()).loginLink);
    await box(page).fill('にほん');

    await box(page).dispatchEvent('keydown', { key: 'Enter', isComposing: true });
    await page.keyboard.type('ご');

    expect(await box(page).inputValue()).toBe('にほんご');
  });

  it('begins a new line on a phone, where the button sends and no keyboard comes up by itself', async () => {
    const server = await servePage({ script: [{ text: 'Well.' }] });
    const { page } = await visit(server.loginLink, { width: 390, height: 844, hasTouch: true });
    const frames = await framesOf(page);
    await page.getByPlaceholder('Write a message, the button sends it').waitFor();

    const wasFocused = await isFocused(page);
    await box(page).tap();
    await page.keyboard.type('one');
    await page.keyboard.press('Enter');
    await page.keyboard.type('two');
    await button(page, 'Send').tap();
    await frames.heard({ type: 'agent_settled' });

    expect(wasFocused).toBe(false);
    expect(said(server.home)).toEqual(['one\ntwo']);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  });
});

describe('while a run is active', () => {
  it('Enter steers it, and Alt with it waits for its end', async () => {
    const gate = newGate();
    const steps = [{ text: 'Well, ' }, { await: gate.path }, { text: 'done.' }];
    const server = await servePage({ script: [{ steps }, { text: 'Briefly.' }, { text: 'More.' }] });
    const { page } = await visit(server.loginLink);
    const frames = await framesOf(page);
    await say(page, 'Talk');
    await page.getByText('Enter steers · Alt+Enter queues · Esc stops').waitFor();

    await box(page).fill('And then more');
    await page.keyboard.press('Alt+Enter');
    await frames.heard({ type: 'queue_update' });
    await say(page, 'Be brief');
    const { items } = await frames.heard({ type: 'queue_update' });
    gate.open();
    await frames.heard({ type: 'agent_settled' });

    const waited = items.map(({ kind, text }: { kind: string; text: string }) => `${kind}: ${text}`);
    expect(waited.sort()).toEqual(['followUp: And then more', 'steer: Be brief']);
    expect(said(server.home)).toEqual(['Talk', 'Be brief', 'And then more']);
    await button(page, 'Send').waitFor();
  });

  it('there are buttons for both', async () => {
    const server = await servePage({ script: [{ steps: [{ text: 'Endless ' }, { stall: true }] }] });
    const { page } = await visit(server.loginLink);
    const frames = await framesOf(page);
    await say(page, 'Talk');
    await button(page, 'Stop').waitFor();

    await box(page).fill('first');
    await button(page, 'Queue').click();
    await box(page).fill('second');
    await button(page, 'Steer').click();
    const [queued, steered] = [await frames.said({ message: 'first' }), await frames.said({ message: 'second' })];

    expect([queued['streamingBehavior'], steered['streamingBehavior']]).toEqual(['followUp', 'steer']);
    expect(await button(page, 'Send').count()).toBe(0);
  });

  it.each(['Escape', 'Stop'])('%s ends it, and what waited is in the box again', async (how) => {
    const script = [{ steps: [{ text: 'Endless ' }, { stall: true }] }, { text: 'Gladly.' }];
    const server = await servePage({ script });
    const view = await visit(server.loginLink);
    const { page } = view;
    const frames = await framesOf(page);
    await say(page, 'Talk');
    await button(page, 'Stop').waitFor();
    await box(page).fill('Later');
    await page.keyboard.press('Alt+Enter');
    await frames.heard({ type: 'queue_update' });
    await say(page, 'Sooner');
    await frames.heard({ type: 'queue_update' });
    await box(page).fill('half a sen');

    if (how === 'Escape') await page.keyboard.press('Escape');
    else await button(page, 'Stop').click();
    await atRest(page);
    await holds(page, 'Sooner\n\nLater\n\nhalf a sen');
    await say(page, 'Talk again');
    await frames.heard({ type: 'agent_settled' });
    await frames.heard({ type: 'agent_settled' });

    expect(said(server.home)).toEqual(['Talk', 'Talk again']);
    expect(view.complaints).toEqual([]);
  });
});

describe('a message', () => {
  it('that is refused is in the box again', async () => {
    const { page } = await visit((await servePage()).loginLink);
    const frames = await framesOf(page);

    await say(page, '/model nobody/nothing');
    await frames.heard({ command: 'prompt', success: false });

    await holds(page, '/model nobody/nothing');
  });

  it('waits for a connection where there is none', async () => {
    const server = await servePage({ script: [{ text: 'Well.' }, { text: 'Again.' }] });
    const { page } = await visit(server.loginLink);
    const frames = await framesOf(page);
    await say(page, 'Talk');
    await frames.heard({ type: 'agent_settled' });
    const lost = page.waitForEvent('console', (message) => message.text().includes('WebSocket'));
    await server.kill();
    await lost;

    await say(page, 'Still there?');
    const inBox = await box(page).inputValue();
    await server.again();
    await frames.heard({ type: 'agent_settled' });

    expect(inBox).toBe('');
    expect(said(server.home)).toEqual(['Talk', 'Still there?']);
  });

  it('of a built-in command shows what that has to say, until it is closed', async () => {
    const { page } = await visit((await servePage()).loginLink);

    await say(page, '/help');
    const reply = page.getByRole('region', { name: 'What /help says' });
    await reply.getByText('/compact [instructions]').waitFor();
    await page.keyboard.press('Escape');

    await reply.waitFor({ state: 'detached' });
  });
});

describe('drafts', () => {
  it('are there after a reload, for each session its own, and gone once sent', async () => {
    const server = await servePage({ script: [{ text: 'Well.' }, { text: 'Again.' }] });
    const view = await visit(server.loginLink);
    const { page } = view;
    const frames = await framesOf(page);
    await say(page, 'Talk');
    await frames.heard({ type: 'agent_settled' });
    await page.waitForURL(/session=/);

    await box(page).fill('half a sen');
    const other = await openTab(view, server.address);
    await box(other.page).waitFor();
    await page.reload();
    await holds(page, 'half a sen');
    const inOther = await box(other.page).inputValue();
    await page.keyboard.type('tence');
    await page.keyboard.press('Enter');
    await frames.heard({ type: 'agent_settled' });
    await page.reload();
    await box(page).waitFor();

    expect(inOther).toBe('');
    expect(await box(page).inputValue()).toBe('');
    expect(view.complaints).toEqual([]);
  });

  it('are seen in another tab of the session as long as nothing is written there', async () => {
    const server = await servePage({ script: [{ text: 'Well.' }] });
    const one = await visit(server.loginLink);
    const frames = await framesOf(one.page);
    await say(one.page, 'Talk');
    await frames.heard({ type: 'agent_settled' });
    await one.page.waitForURL(/session=/);
    const other = await openTab(one);
    await box(other.page).waitFor();

    await box(one.page).fill('from one');
    await holds(other.page, 'from one');
    await box(other.page).fill('from the other');
    await until(one.page, "Object.values(localStorage).some((kept) => kept.includes('from the other'))");
    await other.page.evaluate(`addEventListener('storage', ({ newValue }) => {
      if (newValue?.includes('from one, again')) requestAnimationFrame(() => (window.isTold = true));
    })`);
    await box(one.page).fill('from one, again');
    await until(other.page, 'window.isTold');

    expect(await box(other.page).inputValue()).toBe('from the other');
  });

  it('are replaced by what extensions put there, and are one arrow away', async () => {
    const gate = newGate();
    const { home } = commandHome({
      put: `${untilThere(JSON.stringify(gate.path))} ctx.ui.setEditorText('of an extension');`,
    });
    const { page } = await visit((await servePage({ home })).loginLink);
    const frames = await framesOf(page);
    await say(page, '/put');
    await frames.said({ message: '/put' });

    await box(page).fill('mine');
    gate.open();
    await holds(page, 'of an extension');
    await box(page).fill('');
    await page.keyboard.press('ArrowUp');

    expect(await box(page).inputValue()).toBe('mine');
  });

  it('are not replaced by what an extension puts into the session that it has gone to', async () => {
    const gate = newGate();
    const { home } = commandHome({
      move: `${untilThere(JSON.stringify(gate.path))} await ctx.newSession(); ctx.ui.setEditorText('for the new one');`,
    });
    const { page } = await visit((await servePage({ home })).loginLink);
    const frames = await framesOf(page);
    await say(page, 'say hello');
    await frames.heard({ type: 'agent_settled' });
    await page.waitForURL(/session=/);
    await say(page, '/move');
    await frames.said({ message: '/move' });

    await box(page).fill('mine');
    // Nothing is drawn before both have come.
    await page.evaluate(
      'window.held = []; window.draw = requestAnimationFrame; requestAnimationFrame = (f) => held.push(f)',
    );
    gate.open();
    await frames.heard({ method: 'set_editor_text' });
    await page.evaluate('requestAnimationFrame = draw; held.forEach((f) => draw(f))');
    await page.waitForURL((url) => !url.search.includes('session='));
    await holds(page, 'for the new one');
    await page.goBack();

    await holds(page, 'mine');
  });
});

it('arrows go through what was said before, also after a reload', async () => {
  const script = [{ text: 'Well.' }, { text: 'Well.' }];
  const { page } = await visit((await servePage({ script })).loginLink);
  const frames = await framesOf(page);
  for (const text of ['first', 'second\nline']) {
    await box(page).fill(text);
    await page.keyboard.press('Enter');
    await frames.heard({ type: 'agent_settled' });
  }
  await say(page, '!true');
  await frames.heard({ command: 'bash', success: true });
  await page.waitForURL(/session=/);
  const press = async (keys: readonly string[]) => {
    const seen: string[] = [];
    for (const key of keys) {
      await page.keyboard.press(key);
      seen.push(await box(page).inputValue());
    }
    return seen;
  };
  const up = ['ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowUp'];

  const seen = await press([...up, 'ArrowDown', 'ArrowDown', 'ArrowDown']);
  await page.reload();
  await frames.heard({ type: 'state_synced' });
  await page.getByText('first').first().waitFor();
  await box(page).and(page.locator(':focus')).waitFor();
  const again = await press(up);

  expect(seen).toEqual(['!true', 'second\nline', 'first', 'first', 'second\nline', '!true', '']);
  expect(again).toEqual(seen.slice(0, 4));
});

it('arrows with other keys are not for what was said before', async () => {
  const home = newHome();
  for (const id of ['one', 'two']) keepSession(home, conversation(home.cwd, { id }), { name: `${id}.jsonl` });
  const { page } = await visit((await servePage({ home })).loginLink);
  await page.getByRole('navigation', { name: 'Sessions' }).getByRole('link').nth(1).click();
  await page.waitForURL(/session=/);
  await page.getByRole('main').getByText('first').first().waitFor();
  await box(page).and(page.locator(':focus')).waitFor();
  const second = page.url();

  for (const keys of ['Shift+ArrowUp', 'Control+ArrowUp']) await page.keyboard.press(keys);
  const left = await box(page).inputValue();
  await page.keyboard.press('Alt+ArrowUp');
  await page.waitForURL((url) => url.href !== second);

  expect([left, await box(page).inputValue()]).toEqual(['', '']);
});

it('a login that may not run commands is told so, and keeps the line', async () => {
  const { page } = await visitAs(visit, await servePage(), { scopes: 'view,prompt' });
  await box(page).waitFor();

  await say(page, '!ls');
  await page.getByRole('alert').getByText('This login may not run commands in the shell.').waitFor();

  expect(await box(page).inputValue()).toBe('!ls');
});

it('the box grows with its text, up to a part of the page', async () => {
  const { page } = await visit((await servePage()).loginLink);
  await box(page).waitFor();
  const height = async () => (await box(page).boundingBox())?.height ?? 0;

  const empty = await height();
  await box(page).fill('line\n'.repeat(5));
  const some = await height();
  await box(page).fill('line\n'.repeat(500));
  const many = await height();

  expect(some).toBeGreaterThan(empty * 2);
  expect(many).toBeLessThanOrEqual(800 * 0.4);
});
