import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { homeWithCommands, waitForFileCode } from '../support/agent/extensions.ts';
import { newGate, newHome, writeUserFile } from '../support/agent/test-agent.ts';
import { writeFiles } from '../support/agent/user-files.ts';
import { openTab, useBrowser, waitForTitle } from '../support/page/browser.ts';
import { waitForCondition } from '../support/page/conversation-view.ts';
import { visibleText } from '../support/page/export-page.ts';
import { button, main, messageBox, visitWithScopes, waitForDraft } from '../support/page/page-actions.ts';
import { servePage, submitPrompt } from '../support/page/page-server.ts';

const { visit } = useBrowser();

const queue = (page: Page) => page.getByRole('list', { name: 'Queued messages' });
const queued = (page: Page, text: string) => queue(page).getByRole('listitem').filter({ hasText: text });
const editor = (page: Page) => page.getByRole('textbox', { name: 'Queued message' });
const notices = (page: Page) => page.getByRole('region', { name: 'Notices' });

/** A page on a run that waits for a gate. */
async function running() {
  const gate = newGate();
  const script = [
    { steps: [{ text: 'Well, ' }, { await: gate.path }, { text: 'done.' }] },
    { text: 'As you like.' },
    { text: 'If you say so.' },
  ];
  const view = await visit((await servePage({ script })).loginLink);
  await submitPrompt(view.page, 'Go');
  await main(view.page).getByText('Well,').waitFor();
  return { ...view, gate };
}

it('queued messages are shown in every tab and can be edited and dropped in any', async () => {
  const one = await running();
  await one.page.waitForURL(/session=/);
  const other = await openTab(one);
  await submitPrompt(one.page, 'And be brief');
  await queued(one.page, 'And be brief').waitFor();
  await submitPrompt(one.page, 'Then sing');
  await queued(other.page, 'Then sing').waitFor();

  await queued(other.page, 'Then sing').getByRole('button', { name: 'Drop' }).click();
  await queued(one.page, 'Then sing').waitFor({ state: 'detached' });
  await queued(other.page, 'And be brief').getByRole('button', { name: 'Edit' }).click();
  await editor(other.page).press('Shift+Enter');
  await other.page.keyboard.type('but polite');
  await other.page.keyboard.press('Enter');
  await queued(one.page, 'And be brief but polite').waitFor();
  const queuedText = await visibleText(queue(one.page));
  one.gate.open();
  await main(one.page).getByText('As you like.').waitFor();

  expect(queuedText.replaceAll(/\s+/g, ' ')).toBe('steers And be brief but polite');
  expect(await visibleText(main(one.page))).toMatch(/And be brief\s+but polite/);
  expect(await visibleText(main(one.page))).not.toContain('sing');
  for (const { page } of [one, other]) await queue(page).waitFor({ state: 'detached' });
  expect([...one.complaints, ...other.complaints]).toEqual([]);
});

it('Escape cancels the edit of a queued message and does not stop the run', async () => {
  const { page, gate } = await running();
  await submitPrompt(page, 'And be brief');
  await queued(page, 'And be brief').getByRole('button', { name: 'Edit' }).click();
  await editor(page).fill('Sing instead');
  await page.keyboard.press('Escape');
  await queued(page, 'And be brief').waitFor();

  gate.open();

  await main(page).getByText('Well, done.').waitFor();
  await main(page).getByText('As you like.').waitFor();
});

it('[V56] the focus stays in the queue after a message is edited or dropped by keyboard', async () => {
  const { page } = await running();
  for (const text of ['And be brief', 'Then sing']) {
    await submitPrompt(page, text);
    await queued(page, text).waitFor();
  }
  const focused = () =>
    page.evaluate(`(({ ariaLabel }, items) => [ariaLabel, items.findIndex((item) => item.matches(':focus-within'))])(
      document.activeElement, [...document.querySelectorAll('.queue > li')])`);
  const edit = queued(page, 'Then sing').getByRole('button', { name: 'Edit' });

  await edit.press('Enter');
  await editor(page).press('Escape');
  await edit.waitFor();
  const left = await focused();
  await edit.click();
  await editor(page).press('Escape');
  await edit.waitFor();
  const leftAfterClick = await focused();
  await edit.press('Enter');
  await editor(page).fill('Then sing well');
  await page.keyboard.press('Enter');
  await queued(page, 'Then sing well').waitFor();
  const saved = await focused();
  await queued(page, 'And be brief').getByRole('button', { name: 'Drop' }).press('Enter');
  await queued(page, 'And be brief').waitFor({ state: 'detached' });
  const dropped = await focused();
  await page.keyboard.press('Enter');
  await queue(page).waitFor({ state: 'detached' });

  expect(leftAfterClick).toEqual(left);
  expect([left, saved, dropped, await focused()]).toEqual([
    ['Edit: Then sing', 1],
    ['Edit: Then sing well', 1],
    ['Drop: Then sing well', 0],
    ['Message', -1],
  ]);
});

it('an edit of a queued message moves to the composer when the message is delivered meanwhile', async () => {
  const { page, gate, complaints } = await running();
  await submitPrompt(page, 'And be brief');
  await queued(page, 'And be brief').getByRole('button', { name: 'Edit' }).click();
  await editor(page).fill('And be very brief');

  gate.open();
  await main(page).getByText('As you like.').waitFor();
  await notices(page).getByText('The message is no longer queued. What you wrote is in the composer.').waitFor();

  expect(await messageBox(page).inputValue()).toBe('And be very brief');
  expect(await visibleText(main(page))).not.toContain('very brief');
  expect(complaints).toEqual([]);
});

it('an edit of a queued message survives leaving its session, and moves to the composer when the message was delivered', async () => {
  const { page, gate, complaints } = await running();
  const openNewSession = async () => {
    await button(page, 'New session').click();
    await page.getByText('Try it without a key').waitFor();
  };
  await page.waitForURL(/session=/);
  await submitPrompt(page, 'And be brief');
  await queued(page, 'And be brief').getByRole('button', { name: 'Edit' }).click();
  await editor(page).fill('And be very brief');

  await openNewSession();
  await page.goBack();
  await editor(page).waitFor();
  const written = await editor(page).inputValue();
  await openNewSession();
  gate.open();
  await page.goBack();
  await main(page).getByText('As you like.').waitFor();
  await waitForDraft(page, 'And be very brief');

  expect(written).toBe('And be very brief');
  expect(await visibleText(main(page))).not.toContain('very brief');
  expect(complaints).toEqual([]);
});

it('stopping the run moves a message being edited to the composer once, in its edited form', async () => {
  const { page, complaints } = await running();
  await submitPrompt(page, 'And be brief');
  await queued(page, 'And be brief').waitFor();
  await submitPrompt(page, 'Then sing');
  await queued(page, 'Then sing').waitFor();
  await queued(page, 'And be brief').getByRole('button', { name: 'Edit' }).click();
  await editor(page).fill('And be very brief');

  await button(page, 'Stop').click();
  await button(page, 'Stop').waitFor({ state: 'hidden' });
  await queue(page).waitFor({ state: 'detached' });
  await waitForCondition(page, `(document.querySelector('[aria-label="Message"]')?.value ?? '') !== ''`);

  expect(await messageBox(page).inputValue()).toBe('And be very brief\n\nThen sing');
  expect(await visibleText(notices(page))).toBe('');
  expect(complaints).toEqual([]);
});

it('an unacknowledged message is shown only after a delay, and the layout does not move before', async () => {
  const gate = newGate();
  const { home } = homeWithCommands({ slow: waitForFileCode(JSON.stringify(gate.path)) });
  const { page, complaints } = await visit((await servePage({ home })).loginLink);
  await page.getByText('Try it without a key').waitFor();
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 3_600_000);
  const mainBox = () => main(page).boundingBox();
  const unsent = page.getByRole('list', { name: 'Not sent yet' });

  const before = await mainBox();
  await submitPrompt(page, '/slow');
  await page.clock.runFor(100);
  await page.locator('.outbox').waitFor({ state: 'attached' });
  const [during, isShown] = [await mainBox(), await unsent.isVisible()];
  await page.clock.runFor(1000);
  await unsent.getByText('/slow').waitFor();
  await page.clock.resume();
  gate.open();
  await unsent.waitFor({ state: 'detached' });

  expect([during, isShown]).toEqual([before, false]);
  expect(complaints).toEqual([]);
});

it('statuses, widgets and the title of extensions are shown in their positions, also after a reload, until they are removed', async () => {
  const { home } = homeWithCommands({
    show: `
      ctx.ui.setStatus('git', 'main ahead by 2');
      ctx.ui.setWidget('tests', ['42 passed', '  1 failed']);
      ctx.ui.setWidget('foot', ['Below all'], { placement: 'belowEditor' });
      ctx.ui.setTitle('Watching');`,
    hide: "ctx.ui.setStatus('git', undefined); ctx.ui.setWidget('tests', undefined); ctx.ui.setWidget('foot', undefined);",
  });
  const { page, complaints } = await visit((await servePage({ home })).loginLink);
  const top = async (text: string) => (await page.getByText(text).boundingBox())?.y ?? Number.NaN;
  const written = async () => (await messageBox(page).boundingBox())?.y ?? Number.NaN;
  await submitPrompt(page, 'say hello');
  await page.waitForURL(/session=/);
  await submitPrompt(page, '/show');

  for (const time of ['at first', 'after a reload']) {
    await page.getByText('main ahead by 2').waitFor();
    await page.getByText('Below all').waitFor();
    expect(await top('1 failed'), time).toBeLessThan(await written());
    expect(await top('Below all'), time).toBeGreaterThan(await written());
    expect(await top('main ahead by 2'), time).toBeGreaterThan(await top('Below all'));
    await waitForTitle(page, 'Watching');
    if (time === 'at first') await page.reload();
  }
  await submitPrompt(page, '/hide');
  for (const text of ['main ahead by 2', '1 failed', 'Below all']) {
    await page.getByText(text).waitFor({ state: 'detached' });
  }
  expect(complaints).toEqual([]);
});

it('[W126] a warning of the agent is shown as a notice', async () => {
  const home = newHome();
  writeUserFile(home, 'models.json', '{"providers": 7}');
  const { page } = await visit((await servePage({ home })).loginLink);

  await submitPrompt(page, 'say hello');

  await notices(page).getByText('models.json: providers must be an object').waitFor();
});

it('errors stay until they are dismissed; other notices disappear unless the pointer is over them', async () => {
  const { home } = homeWithCommands({
    tell: "ctx.ui.notify('All is well'); ctx.ui.notify('Take care', 'warning'); ctx.ui.notify('It broke', 'error');",
  });
  const { page, complaints } = await visit((await servePage({ home })).loginLink);
  await page.clock.install();
  await submitPrompt(page, '/tell');
  await page.getByRole('status').getByText('All is well').waitFor();
  await page.getByRole('alert').getByText('It broke').waitFor();

  await notices(page).getByText('Take care').hover();
  await page.clock.runFor(60_000);
  const held = await visibleText(notices(page));
  await messageBox(page).hover();
  await page.clock.runFor(60_000);
  await notices(page).getByText('Take care').waitFor({ state: 'detached' });
  const left = await visibleText(notices(page));
  await button(page, 'Dismiss').click();
  await notices(page).getByText('It broke').waitFor({ state: 'detached' });

  expect(held.split(/\n+/)).toEqual(['All is well', 'Take care', 'It broke']);
  expect(left).toBe('It broke');
  expect(complaints).toEqual([]);
});

it('only the latest of many notices are shown, and all can be dismissed at once', async () => {
  const { home } = homeWithCommands({
    tell: "for (let at = 1; at <= 9; at++) ctx.ui.notify('Number ' + at, 'error');",
  });
  const { page } = await visit((await servePage({ home })).loginLink);

  await submitPrompt(page, '/tell');
  await notices(page).getByText('Number 9').waitFor();
  const first = await page.getByRole('alert').allInnerTexts();
  await button(page, 'Dismiss').last().click();
  await notices(page).getByText('4 more').waitFor();
  const then = await page.getByRole('alert').allInnerTexts();
  await button(page, 'Dismiss all').click();
  await page.getByRole('alert').first().waitFor({ state: 'detached' });

  expect(first).toEqual(['Number 6', 'Number 7', 'Number 8', 'Number 9']);
  expect(then).toEqual(['Number 5', 'Number 6', 'Number 7', 'Number 8']);
  expect(await visibleText(notices(page))).toBe('');
});

/** Whether the scroll container cuts the shadow of an element on the left or below. */
const isShadowCut = (locator: Locator): Promise<boolean> =>
  locator.evaluate(async (element) => {
    await Promise.all(element.getAnimations().map(({ finished }) => finished));
    const lengths = getComputedStyle(element).boxShadow.match(/-?[\d.]+(?=px)/g) ?? [];
    const [, down = 0, blur = 0] = lengths.map(Number);
    const [card, edge] = [element, element.closest('.toasts, .status-area')].map((it) => it?.getBoundingClientRect());
    return !card || !edge || card.left - blur < Math.max(edge.left, 0) || card.bottom + down + blur > edge.bottom;
  });

it('the shadows of notices and dialogs are not cut', async () => {
  const { home } = homeWithCommands({
    ask: "ctx.ui.notify('All is well', 'error'); await ctx.ui.confirm('Sure?', 'Well?');",
  });
  const { page } = await visit((await servePage({ home })).loginLink);

  await submitPrompt(page, '/ask');
  await page.getByRole('form', { name: 'Sure?' }).waitFor();
  await page.getByRole('alert').waitFor();

  expect(await isShadowCut(page.getByRole('alert'))).toBe(false);
  expect(await isShadowCut(page.locator('.dialog'))).toBe(false);
});

it('on a phone a long notice takes two lines, and its full height under the pointer', async () => {
  const { home } = homeWithCommands({
    tell: "for (const of of ['One ', 'Other ']) ctx.ui.notify(of.repeat(60), 'error');",
  });
  const { page } = await visit((await servePage({ home })).loginLink, { width: 390, height: 844 });
  const linesOf = (nth: number) =>
    page.evaluate(`(({ clientHeight }, { lineHeight }) => Math.round(clientHeight / Number.parseFloat(lineHeight)))(
      ...((p) => [p, getComputedStyle(p)])(document.querySelectorAll('[role=alert] p')[${nth}]))`);

  await submitPrompt(page, '/tell');
  await notices(page).getByText('Other').waitFor();
  const short = [await linesOf(0), await linesOf(1)];
  await notices(page).getByText('Other').hover();

  expect(short).toEqual([2, 2]);
  expect(await linesOf(0)).toBe(2);
  expect(await linesOf(1)).toBeGreaterThan(4);
});

it('long texts of extensions are cut, and a run of hidden characters is one mark', async () => {
  const { home } = homeWithCommands({
    show: `
      ctx.ui.setStatus('hidden', '\\u200b'.repeat(40000));
      ctx.ui.setStatus('long', 'x'.repeat(40000));
      ctx.ui.setWidget('hidden', ['\\u202e\\u2066'.repeat(20000)]);
      ctx.ui.notify('y'.repeat(40000), 'error');
      for (let at = 0; at < 30; at++) void ctx.ui.confirm('Sure?', '');`,
  });
  const { page, complaints } = await visit((await servePage({ home })).loginLink);
  await submitPrompt(page, '/show');
  await page.getByRole('form', { name: 'Sure?' }).nth(29).waitFor();

  const statuses = page.getByRole('list', { name: 'Status of extensions' }).getByRole('listitem');
  expect(await statuses.allInnerTexts()).toEqual(['U+200B ×4000…', `${'x'.repeat(4000)}…`]);
  expect(await visibleText(notices(page).getByText('yyy'))).toBe(`${'y'.repeat(4000)}…`);
  const widget = page.getByRole('region', { name: 'hidden' });
  expect(await widget.locator('.hidden-character').count()).toBe(2001);
  expect((await widget.boundingBox())?.height).toBeGreaterThan(30);
  expect(complaints).toEqual([]);
});

it('[Z76] files that are skipped without trust are listed, and an admin can trust the project', async () => {
  const home = newHome();
  writeFiles({ ...home, root: home.cwd }, { '.pi/settings.json': '{}', '.pi/mcp.json': '{}' });
  const server = await servePage({ home });
  const own = await visit(server.loginLink);
  const notice = (page: Page) => page.getByRole('region', { name: 'Skipped files' });
  await submitPrompt(own.page, 'say hello');
  await own.page.waitForURL(/session=/);
  await notice(own.page).waitFor();
  const guest = await visitWithScopes(visit, server, { scopes: 'view,prompt', address: own.page.url() });
  await notice(guest.page).waitFor();

  const shown = await visibleText(notice(own.page));
  const guestButtons = await notice(guest.page).getByRole('button').count();
  await notice(own.page).getByRole('button', { name: 'Trust this project' }).click();

  for (const { page } of [own, guest]) await notice(page).waitFor({ state: 'detached' });
  expect(shown).toContain('.pi/settings.json');
  expect(shown).toContain('.pi/mcp.json');
  expect(guestButtons).toBe(0);
  expect(own.complaints).toEqual([]);
});
