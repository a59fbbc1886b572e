import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { homeWithCommands, waitForFileCode } from '../support/agent/extensions.ts';
import { NO_RETRY, newGate, newHome, writeSettings } from '../support/agent/test-agent.ts';
import { openTab, useBrowser, type ViewOptions, waitForTitle } from '../support/page/browser.ts';
import { messageBox } from '../support/page/page-actions.ts';
import { type PageServer, servePage, submitPrompt } from '../support/page/page-server.ts';

const { visit } = useBrowser();

/** Replaces `Notification` by a class that is granted on request and records each notification. */
const NOTIFICATIONS = `
  window.notifications = [];
  window.Notification = class {
    static permission = sessionStorage.getItem('permission') ?? 'default';
    static async requestPermission() {
      sessionStorage.setItem('permission', 'granted');
      return (Notification.permission = 'granted');
    }
    constructor(title, { body } = {}) {
      if (Notification.permission === 'granted') notifications.push(title + ': ' + body);
      window.latest = this;
    }
    close() {}
  };`;

const offer = (page: Page) => page.getByRole('button', { name: 'Tell me when it is done' });
const shownNotifications = (page: Page): Promise<unknown> => page.evaluate('notifications');

/** Sets the visibility state that the page reads. */
const setVisibility = (page: Page, state: 'hidden' | 'visible') =>
  page.evaluate(`
    Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));`);

it('a run that ends while the page is hidden is marked in the title and the icon until the page is visible', async () => {
  const gate = newGate();
  const script = [{ text: 'At once.' }, { steps: [{ text: 'Well, ' }, { await: gate.path }] }];
  const { page, complaints } = await visit((await servePage({ script })).loginLink);
  const icon = () => page.locator('link[rel="icon"]').getAttribute('href');
  await waitForTitle(page, 'New session · tau');
  const plain = await icon();
  await submitPrompt(page, 'Go');
  await page.locator('main').getByText('At once.').waitFor();
  await waitForTitle(page, 'Go · tau');
  await submitPrompt(page, 'Go on');
  await page.locator('main').getByText('Well,').waitFor();

  await setVisibility(page, 'hidden');
  gate.open();
  await waitForTitle(page, '(1) Go · tau');
  const marked = await icon();
  await setVisibility(page, 'visible');
  await waitForTitle(page, 'Go · tau');

  expect(marked).not.toBe(plain);
  expect(await icon()).toBe(plain);
  expect(complaints).toEqual([]);
});

/** A page with recorded notifications, which are granted unless `permission` is `default`. */
async function visitWithNotifications(
  server: PageServer,
  permission: 'default' | 'granted' = 'granted',
  options: ViewOptions = {},
) {
  const view = await visit(server.loginLink, options);
  const { page } = view;
  await messageBox(page).waitFor();
  await page.context().addInitScript(NOTIFICATIONS);
  await page.evaluate(`sessionStorage.setItem('permission', '${permission}')`);
  await page.reload();
  return view;
}

it('a run that ends or fails while the page is hidden is notified, a run that ends in sight is not', async () => {
  const home = newHome();
  writeSettings(home, NO_RETRY);
  const gates = [newGate(), newGate()];
  const script = [
    { text: 'Watched.' },
    { steps: [{ text: 'Well, ' }, { await: gates[0]?.path }] },
    { steps: [{ text: 'Hm, ' }, { await: gates[1]?.path }, { error: { status: 500, message: 'Out of paper' } }] },
  ];
  const { page, complaints } = await visitWithNotifications(await servePage({ home, script }));
  const main = page.locator('main');

  await submitPrompt(page, 'Go');
  await main.getByText('Watched.').waitFor();
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
  await submitPrompt(page, 'Go on');
  await main.getByText('Well,').waitFor();
  await setVisibility(page, 'hidden');
  gates[0]?.open();
  await waitForTitle(page, '(1) Go · tau');
  await setVisibility(page, 'visible');
  await submitPrompt(page, 'Go further');
  await main.getByText('Hm,').waitFor();
  await setVisibility(page, 'hidden');
  gates[1]?.open();
  await waitForTitle(page, '(1) Go · tau');

  expect(await shownNotifications(page)).toEqual(['Go · tau: Done', 'Go · tau: Failed: 500 Out of paper']);
  expect(await page.evaluate('new Promise((done) => { window.focus = () => done(true); latest.onclick(); })')).toBe(
    true,
  );
  expect(complaints).toEqual([]);
});

it('a run that ended while the page was hidden counts as read once the page is visible', async () => {
  const gate = newGate();
  const script = [{ steps: [{ text: 'Well, ' }, { await: gate.path }] }];
  const { page } = await visit((await servePage({ script })).loginLink);
  const row = page.getByRole('navigation', { name: 'Sessions' }).getByRole('listitem').filter({ hasText: 'Go' });
  await submitPrompt(page, 'Go');
  await row.getByRole('img', { name: 'Running' }).waitFor();

  await setVisibility(page, 'hidden');
  gate.open();
  await row.getByRole('img', { name: 'Idle' }).waitFor();
  await setVisibility(page, 'visible');
  await page.getByRole('button', { name: 'New session', exact: true }).click();
  await page.getByRole('heading', { name: 'New session' }).waitFor();

  expect(await row.getByRole('img').getAttribute('aria-label')).toBe('Idle');
});

it('a pending dialog is notified, and no longer counted once it is answered in another tab', async () => {
  const gate = newGate();
  const { home } = homeWithCommands({
    ask: `${waitForFileCode(JSON.stringify(gate.path))} await ctx.ui.confirm('Is it you?', '');`,
  });
  const { page } = await visitWithNotifications(await servePage({ home }));
  await submitPrompt(page, 'say hello');
  await page.waitForURL(/session=/);
  const other = await openTab({ page, complaints: [] });
  await messageBox(other.page).waitFor();
  await submitPrompt(page, '/ask');

  await setVisibility(other.page, 'hidden');
  await setVisibility(page, 'hidden');
  gate.open();
  await waitForTitle(page, '(1) say hello · tau');
  await setVisibility(other.page, 'visible');
  await other.page.getByRole('form', { name: 'Is it you?' }).getByRole('button', { name: 'Yes' }).click();
  await waitForTitle(page, 'say hello · tau');

  expect(await shownNotifications(page)).toEqual(['say hello · tau: Waits for an answer: Is it you?']);
});

it('a run that ends in sight of another tab is not notified', async () => {
  const gates = [newGate(), newGate()];
  const script = gates.map(({ path }) => ({ steps: [{ text: 'Well, ' }, { await: path }, { text: 'done.' }] }));
  const { page } = await visitWithNotifications(await servePage({ script }));
  await submitPrompt(page, 'Go');
  await page.waitForURL(/session=/);
  const other = await openTab({ page, complaints: [] });
  const done = (at: number) => other.page.locator('main').getByText('Well, done.').nth(at).waitFor();
  await other.page.locator('main').getByText('Well,').waitFor();

  await setVisibility(page, 'hidden');
  gates[0]?.open();
  await done(0);
  await submitPrompt(other.page, 'Go on');
  await other.page.locator('main').getByText('Well,').nth(1).waitFor();
  await setVisibility(other.page, 'hidden');
  gates[1]?.open();
  await waitForTitle(page, '(1) Go · tau');

  expect(await shownNotifications(page)).toEqual(['Go · tau: Done']);
});

it('a page that is hidden again at once does not count as watching', async () => {
  const { page } = await visit((await servePage()).loginLink);
  await submitPrompt(page, 'say hello');
  await page.waitForURL(/session=/);
  const held = () => page.evaluate('navigator.locks.query().then(({ held, pending }) => held.length + pending.length)');
  await expect.poll(held).toBe(1);

  await setVisibility(page, 'hidden');
  await page.evaluate(`for (const state of ['visible', 'hidden']) {
    Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }`);

  // Locks are granted in order: after this one, no earlier request is pending.
  await page.evaluate("navigator.locks.request('another', () => {})");
  await expect.poll(held).toBe(0);
});

/** Waits until the page is rendered and its effects have run. */
const waitUntilRendered = (page: Page) =>
  page.evaluate(`new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(done))));
  })`);

/** Advances the clock of the page by a minute. */
async function passOneMinute(page: Page): Promise<void> {
  await waitUntilRendered(page);
  await page.clock.fastForward(60_000);
  await waitUntilRendered(page);
}

it('notifications are offered only after a run has lasted a while, requested only by a click, and a refusal is remembered', async () => {
  const gate = newGate();
  const steps = [{ text: 'Well, ' }, { await: gate.path }];
  const server = await servePage({ script: [{ steps, keep: true, when: 'Go' }] });
  const { page, complaints } = await visitWithNotifications(server, 'default', { hasTestClock: true });
  await submitPrompt(page, 'Go');
  await page.locator('main').getByText('Well,').waitFor();
  await waitUntilRendered(page);
  const early = await offer(page).count();
  await passOneMinute(page);
  await offer(page).waitFor();
  await page.getByRole('button', { name: 'No, thanks' }).click();
  await offer(page).waitFor({ state: 'detached' });
  await page.reload();
  await page.locator('main').getByText('Well,').waitFor();
  await passOneMinute(page);
  const declined = await offer(page).count();
  await page.evaluate('localStorage.clear()');
  await page.reload();
  await page.locator('main').getByText('Well,').waitFor();
  await passOneMinute(page);
  await offer(page).click();
  await offer(page).waitFor({ state: 'detached' });

  expect([early, declined]).toEqual([0, 0]);
  expect(await page.evaluate('Notification.permission')).toBe('granted');
  expect(complaints).toEqual([]);
});

it('hidden and bidirectional characters of a title are shown by code point in the tab and in notifications', async () => {
  const gate = newGate();
  const script = [{ steps: [{ text: 'Well, ' }, { await: gate.path }] }];
  const { page } = await visitWithNotifications(await servePage({ script }));
  await submitPrompt(page, 'Go \u202Egnp.exe');
  await page.locator('main').getByText('Well,').waitFor();
  await waitForTitle(page, 'Go U+202Egnp.exe · tau');

  await setVisibility(page, 'hidden');
  gate.open();
  await waitForTitle(page, '(1) Go U+202Egnp.exe · tau');

  expect(await shownNotifications(page)).toEqual(['Go U+202Egnp.exe · tau: Done']);
});
