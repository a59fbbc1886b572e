import type { Page, WebSocketRoute } from 'playwright-core';
import { expect, it } from 'vitest';
import { homeWithCommands, waitForFileCode } from '../support/agent/extensions.ts';
import { newGate } from '../support/agent/test-agent.ts';
import { openTab, useBrowser } from '../support/page/browser.ts';
import { waitForCondition } from '../support/page/conversation-view.ts';
import { visibleText } from '../support/page/export-page.ts';
import { button, messageBox, visitWithScopes } from '../support/page/page-actions.ts';
import { servePage, submitPrompt } from '../support/page/page-server.ts';
import { Traffic } from '../support/page/socket-frames.ts';

const { visit } = useBrowser();

const dialog = (page: Page, title: string) => page.getByRole('form', { name: title });
const notice = (page: Page, text: string) => page.getByRole('region', { name: 'Notices' }).getByText(text);

/** A page on a server whose extension has these commands. */
async function visitWithCommands(commands: Record<string, string>) {
  return visit((await servePage({ home: homeWithCommands(commands).home })).loginLink);
}

it('a dialog is shown in every tab and can be answered in any; the other tabs show a notice', async () => {
  const one = await visitWithCommands({
    ask: `
      const colour = await ctx.ui.select('Which colour?', ['red', 'blue']);
      const sure = await ctx.ui.confirm('Sure?', 'It will be ' + colour);
      const name = await ctx.ui.input('Which name?', 'a name');
      const text = await ctx.ui.editor('Which text?', 'once');
      tell(ctx, [colour, sure, name, text, await ctx.ui.select('Anything else?', ['no'])]);`,
  });
  await submitPrompt(one.page, 'say hello');
  await one.page.waitForURL(/session=/);
  const other = await openTab(one);
  await messageBox(other.page).waitFor();

  await submitPrompt(one.page, '/ask');
  await dialog(one.page, 'Which colour?').waitFor();
  await dialog(other.page, 'Which colour?').getByRole('button', { name: 'blue' }).click();
  await notice(one.page, 'Answered elsewhere: Which colour?').waitFor();
  await dialog(one.page, 'Sure?').getByText('It will be blue').waitFor();
  await dialog(one.page, 'Sure?').getByRole('button', { name: 'Yes' }).click();
  await dialog(other.page, 'Which name?').getByPlaceholder('a name').fill('Ada');
  await other.page.keyboard.press('Enter');
  await dialog(one.page, 'Which text?').getByRole('textbox').fill('twice');
  await dialog(one.page, 'Which text?').getByRole('button', { name: 'Answer' }).click();
  await other.page.reload();
  await dialog(other.page, 'Anything else?').getByRole('button', { name: 'Cancel' }).click();

  for (const { page } of [one, other]) {
    await notice(page, '["blue",true,"Ada","twice",null]').waitFor();
    expect(await page.getByRole('form', { name: '?' }).count()).toBe(0);
  }
  expect([...one.complaints, ...other.complaints]).toEqual([]);
});

it('every kind of dialog can be answered by keyboard alone, and the focus returns', async () => {
  const { page, complaints } = await visitWithCommands({
    ask: `
      const options = ['red', 'green', 'blue'];
      const arrows = await ctx.ui.select('By arrows?', options);
      const digit = await ctx.ui.select('By digit?', options);
      const yes = await ctx.ui.confirm('Yes?', '');
      const enter = await ctx.ui.confirm('Enter?', '');
      const line = await ctx.ui.input('Line?');
      const text = await ctx.ui.editor('Text?', 'one');
      tell(ctx, [arrows, digit, yes, enter, line, text, await ctx.ui.input('Escape?')]);`,
  });
  const press = async (title: string, ...keys: readonly string[]) => {
    await dialog(page, title).waitFor();
    await page.keyboard.press('Control+j');
    await dialog(page, title).locator(':focus').waitFor();
    for (const key of keys) await page.keyboard.press(key);
  };
  await submitPrompt(page, '/ask');

  await press('By arrows?', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'End', 'ArrowUp', 'Enter');
  await press('By digit?', '3');
  await press('Yes?', 'y');
  await press('Enter?', 'Enter');
  await press('Line?', 'A', 'd', 'a', 'Enter');
  await press('Text?', 'End', 'Enter', 't', 'w', 'o', 'Escape', 'Control+Enter');
  await press('Escape?', 'x', 'Escape');

  await notice(page, String.raw`["green","blue",true,false,"Ada","one\ntwo",null]`).waitFor();
  await messageBox(page).and(page.locator(':focus')).waitFor();
  expect(complaints).toEqual([]);
});

it('a dialog with very many options shows 200 of them and filters them by the typed text', async () => {
  const { page, complaints } = await visitWithCommands({
    ask: `
      const options = Array.from({ length: 20000 }, (_, at) => 'number ' + at);
      const typed = await ctx.ui.select('Which number?', options);
      const clicked = await ctx.ui.select('Which other?', options);
      tell(ctx, [typed, clicked]);`,
  });
  await submitPrompt(page, '/ask');
  const options = dialog(page, 'Which number?').locator('.choices button');
  await dialog(page, 'Which number?').getByText('19800 more').waitFor();
  expect(await options.count()).toBe(200);

  await page.keyboard.press('Control+j');
  await page.keyboard.type('none');
  await dialog(page, 'Which number?').getByText('Nothing fits “none”.').waitFor();
  await dialog(page, 'Which number?').getByRole('textbox').fill('1234');
  await waitForCondition(page, "document.querySelectorAll('.choices button').length < 200");
  expect((await options.allInnerTexts()).slice(0, 3)).toEqual(['number 1234', 'number 12340', 'number 12341']);
  for (const key of ['Enter', 'ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
  await dialog(page, 'Which other?').getByRole('textbox').fill('19999');
  await dialog(page, 'Which other?').getByRole('button', { name: 'number 19999' }).click();

  await notice(page, '["number 12341","number 19999"]').waitFor();
  expect(complaints).toEqual([]);
});

it('the focus ring covers no other option, and short options have centred labels', async () => {
  const { page } = await visitWithCommands({
    ask: `
      await ctx.ui.select('Which colour?', ['red', 'blue']);
      tell(ctx, [await ctx.ui.confirm('Sure?', '')]);`,
  });
  await submitPrompt(page, '/ask');
  await dialog(page, 'Which colour?').waitFor();

  await page.keyboard.press('Control+j');
  const room = await dialog(page, 'Which colour?')
    .locator(':focus')
    .evaluate((first) => {
      const { outlineOffset, outlineWidth } = getComputedStyle(first);
      const gap = (first.nextElementSibling?.getBoundingClientRect().top ?? 0) - first.getBoundingClientRect().bottom;
      return gap - Number.parseFloat(outlineOffset) - Number.parseFloat(outlineWidth);
    });
  await page.keyboard.press('1');
  const offCentre = await button(page, 'No').evaluate((control) => {
    const middle = (element: Element | null) => {
      const { left = 0, right = 0 } = element?.getBoundingClientRect() ?? {};
      return (left + right) / 2;
    };
    return Math.abs(middle(control) - middle(control.firstElementChild));
  });

  expect(room).toBeGreaterThan(2);
  expect(offCentre).toBeLessThan(1);
});

it('keys answer a dialog only while it has the focus, and otherwise go to the message box', async () => {
  const gate = newGate();
  const { page, complaints } = await visitWithCommands({
    ask: `
      ${waitForFileCode(JSON.stringify(gate.path))}
      tell(ctx, [await ctx.ui.confirm('Delete everything?', ''), await ctx.ui.select('Which?', ['Allow', 'Deny'])]);`,
  });
  await submitPrompt(page, '/ask');
  await messageBox(page).and(page.locator(':focus')).waitFor();
  gate.open();
  await dialog(page, 'Delete everything?').waitFor();
  await page.getByRole('status').getByText('An extension asks: Delete everything? (Ctrl+J leads there)').waitFor();

  await page.keyboard.type('yes, 1 n');
  await page.keyboard.press('Backspace');
  expect(await messageBox(page).inputValue()).toBe('yes, 1 ');
  await messageBox(page).fill('');
  await page.keyboard.press('Space');
  await page.keyboard.press('Enter');
  await messageBox(page).blur();
  await page.keyboard.type('y1');
  await dialog(page, 'Delete everything?').waitFor();

  await messageBox(page).focus();
  await page.keyboard.press('Shift+Tab');
  await dialog(page, 'Delete everything?').locator(':focus').waitFor();
  await page.keyboard.press('y');
  await dialog(page, 'Which?').waitFor();
  await messageBox(page).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Control+j');
  await page.keyboard.press('2');

  await notice(page, '[true,"Deny"]').waitFor();
  expect(complaints).toEqual([]);
});

it('a held key answers one dialog, and keys typed while a dialog closes have no effect', async () => {
  const gate = newGate();
  const { page } = await visitWithCommands({
    ask: `
      const first = ctx.ui.confirm('First?', '');
      const second = ctx.ui.confirm('Second?', '');
      void ctx.ui.input('Line?');
      const over = new AbortController();
      void ctx.ui.input('Gone?', '', { signal: over.signal });
      tell(ctx, [await first, await second]);
      ${waitForFileCode(JSON.stringify(gate.path))}
      over.abort();`,
  });
  await submitPrompt(page, '/ask');
  await dialog(page, 'Gone?').waitFor();
  await page.keyboard.press('Control+j');
  await page.keyboard.down('y');
  await dialog(page, 'Second?').locator(':focus').waitFor();
  await page.keyboard.down('y');
  await page.keyboard.up('y');
  await page.keyboard.press('n');
  await notice(page, '[true,false]').waitFor();

  await dialog(page, 'Gone?').getByRole('textbox').fill('An ans');
  gate.open();
  await dialog(page, 'Gone?').waitFor({ state: 'detached' });
  await page.keyboard.type('wer');
  await page.keyboard.press('Enter');
  await dialog(page, 'Line?').waitFor();

  expect(await dialog(page, 'Line?').getByRole('textbox').inputValue()).toBe('');
  expect(await messageBox(page).inputValue()).toBe('');
});

it('a half-written answer is kept when the same dialog is sent again', async () => {
  const server = await servePage({ home: homeWithCommands({ ask: "tell(ctx, await ctx.ui.input('Name?'));" }).home });
  const { page } = await visit(server.loginLink);
  await messageBox(page).waitFor();
  const sockets: WebSocketRoute[] = [];
  const held: string[] = [];
  await page.routeWebSocket(/./, (socket) => {
    const isReconnect = sockets.push(socket) > 1;
    socket.connectToServer().onMessage((data) => {
      // An unknown epoch makes the server send a snapshot on reconnect.
      const text = String(data).replace(/"epoch":"[^"]*"/, '"epoch":"another"');
      if (isReconnect && JSON.parse(text).method === 'input') held.push(text);
      else socket.send(text);
    });
  });
  await page.reload();
  await submitPrompt(page, '/ask');
  await dialog(page, 'Name?').getByRole('textbox').pressSequentially('Ada ');

  await sockets.at(-1)?.close({ code: 4000 });
  await dialog(page, 'Name?').waitFor({ state: 'detached' });
  await expect.poll(() => held).toHaveLength(1);
  sockets.at(-1)?.send(held.join(''));
  await dialog(page, 'Name?').locator(':focus').waitFor();
  await page.keyboard.type('Lovelace');
  await page.keyboard.press('Enter');

  await notice(page, '"Ada Lovelace"').waitFor();
});

it('the announcement of several dialogs names the first and counts the others', async () => {
  const { page } = await visitWithCommands({
    ask: "await Promise.all([ctx.ui.confirm('First?', ''), ctx.ui.confirm('Second?', '')]);",
  });
  await submitPrompt(page, '/ask');

  await page.getByRole('status').getByText('An extension asks: First? (Ctrl+J leads there), and 1 more').waitFor();
  await page.keyboard.press('Control+j');
  await dialog(page, 'First?').locator(':focus').waitFor();
});

it('a dialog does not take the focus from the message box', async () => {
  const { page } = await visitWithCommands({
    later: "await ctx.ui.input('Go?'); void ctx.ui.confirm('First?', ''); void ctx.ui.confirm('Second?', '');",
  });
  await submitPrompt(page, '/later');
  await dialog(page, 'Go?').getByRole('textbox').waitFor();
  await messageBox(page).pressSequentially('In the middle of');
  await dialog(page, 'Go?').getByRole('button', { name: 'Answer' }).dispatchEvent('click');

  await dialog(page, 'Second?').waitFor();
  await page.keyboard.type(' a word, yes');
  expect(await messageBox(page).inputValue()).toBe('In the middle of a word, yes');

  await dialog(page, 'First?').getByRole('button', { name: 'Yes' }).click();
  await dialog(page, 'Second?').locator(':focus').waitFor();
});

it('a dialog with a timeout shows the remaining time and the default result', async () => {
  const { page } = await visitWithCommands({
    brief: `
      const sure = await ctx.ui.confirm('Sure?', '', { timeout: 3_600_000 });
      tell(ctx, [sure, await ctx.ui.select('Which?', ['a'], { timeout: 3_600_000 })]);`,
  });
  await submitPrompt(page, '/brief');

  await dialog(page, 'Sure?').waitFor();
  const sure = await visibleText(dialog(page, 'Sure?'));
  await dialog(page, 'Sure?').getByRole('button', { name: 'Yes' }).click();
  await dialog(page, 'Which?').waitFor();

  expect(sure).toMatch(/Taken as No in \d\d:\d\d min/);
  expect(await visibleText(dialog(page, 'Which?'))).toMatch(/Cancelled in \d\d:\d\d min/);
});

it('a dialog that times out is closed with a notice', async () => {
  const gate = newGate();
  const { page } = await visitWithCommands({
    brief: `
      const now = await ctx.ui.confirm('Now?', '', { timeout: 1 });
      ${waitForFileCode(JSON.stringify(gate.path))}
      tell(ctx, [now]);`,
  });
  await messageBox(page).waitFor();
  const traffic = new Traffic();
  await traffic.watch(page);
  traffic.holdFrom('"by":"timeout"');
  await page.reload();
  await submitPrompt(page, '/brief');
  await dialog(page, 'Now?').waitFor();

  traffic.release();
  await notice(page, 'Not answered in time: Now?').waitFor();
  await dialog(page, 'Now?').waitFor({ state: 'detached' });
  gate.open();

  await notice(page, '[false]').waitFor();
});

it('dialog titles and options are shown as plain text, and long lists scroll on a phone', async () => {
  const evil = '<img src=x onerror="hacked=1">\u202etxt.exe';
  const { home } = homeWithCommands({
    ask: `
      const evil = ${JSON.stringify(evil)};
      const chosen = await ctx.ui.select(evil, [...Array(60).keys()].map((at) => evil + at));
      ctx.ui.notify('Chosen: ' + (chosen === evil + 59));`,
  });
  const { page, complaints } = await visit((await servePage({ home })).loginLink, { width: 390, height: 844 });
  await submitPrompt(page, '/ask');
  const form = page.getByRole('form');

  await form.getByRole('button').nth(59).waitFor();
  const tall = (await form.boundingBox())?.height ?? 0;
  await form.getByRole('button').nth(59).click();

  await notice(page, 'Chosen: true').waitFor();
  expect(tall).toBeLessThan(600);
  expect(await page.evaluate('[window.hacked, document.images.length, document.documentElement.scrollWidth]')).toEqual([
    undefined,
    0,
    390,
  ]);
  expect(complaints).toEqual([]);
});

it('a view-only login gets no dialogs', async () => {
  const { home } = homeWithCommands({ ask: "await ctx.ui.confirm('Sure?', '');" });
  const server = await servePage({ home });
  const own = await visit(server.loginLink);
  await submitPrompt(own.page, 'say hello');
  await own.page.waitForURL(/session=/);
  const { page } = await visitWithScopes(visit, server, { scopes: 'view', address: own.page.url() });
  await page.getByText('This login may only look.').waitFor();

  await submitPrompt(own.page, '/ask');
  await dialog(own.page, 'Sure?').waitFor();
  await button(own.page, 'No').click();
  await submitPrompt(own.page, 'say goodbye');

  await page.locator('main').getByText('goodbye', { exact: true }).waitFor();
  expect(await page.getByRole('form').count()).toBe(0);
});
