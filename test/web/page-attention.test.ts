import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { openTab, waitForTitle, useBrowser } from '../support/page/browser.ts';
import { homeWithCommands, waitForFileCode } from '../support/agent/extensions.ts';
import { NO_RETRY, newGate, newHome, writeSettings } from '../support/agent/test-agent.ts';
import { messageBox } from '../support/page/page-actions.ts';
import { type PageServer, submitPrompt, servePage } from '../support/page/page-server.ts';

const { visit } = useBrowser();

/** The notifications of a browser whose user says yes, kept where they can be read. */
const NOTIFICATIONS = `
  window.told = [];
  window.Notification = class {
    static permission = sessionStorage.getItem('permission') ?? 'default';
    static async requestPermission() {
      sessionStorage.setItem('permission', 'granted');
      return (Notification.permission = 'granted');
    }
    constructor(title, { body } = {}) {
      if (Notification.permission === 'granted') told.push(title + ': ' + body);
      window.latest = this;
    }
    close() {}
  };`;

const offer = (page: Page) => page.getByRole('button', { name: 'Tell me when it is done' });
const told = (page: Page): Promise<unknown> => page.evaluate('told');

/** Lets the page believe that nobody sees it, or that somebody does again. */
const look = (page: Page, state: 'hidden' | 'visible') =>
  page.evaluate(`
    Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));`);

it('a run that ends while nobody looks: the title and the icon say so, until somebody does', async () => {
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

  await look(page, 'hidden');
  gate.open();
  await waitForTitle(page, '(1) Go · tau');
  const marked = await icon();
  await look(page, 'visible');
  await waitForTitle(page, 'Go · tau');

  expect(marked).not.toBe(plain);
  expect(await icon()).toBe(plain);
  expect(complaints).toEqual([]);
});

/** A page in a browser whose user can be notified, and has agreed to it unless `permission` says otherwise. */
async function notified(server: PageServer, permission: 'default' | 'granted' = 'granted') {
  const view = await visit(server.loginLink);
  const { page } = view;
  await messageBox(page).waitFor();
  await page.context().addInitScript(NOTIFICATIONS);
  await page.evaluate(`sessionStorage.setItem('permission', '${permission}')`);
  await page.reload();
  return view;
}

it('the system tells of a run that ended or failed while nobody looked, and of none that somebody watched', async () => {
  const home = newHome();
  writeSettings(home, NO_RETRY);
  const gates = [newGate(), newGate()];
  const script = [
    { text: 'Watched.' },
    { steps: [{ text: 'Well, ' }, { await: gates[0]?.path }] },
    { steps: [{ text: 'Hm, ' }, { await: gates[1]?.path }, { error: { status: 500, message: 'Out of paper' } }] },
  ];
  const { page, complaints } = await notified(await servePage({ home, script }));
  const main = page.locator('main');

  await submitPrompt(page, 'Go');
  await main.getByText('Watched.').waitFor();
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
  await submitPrompt(page, 'Go on');
  await main.getByText('Well,').waitFor();
  await look(page, 'hidden');
  gates[0]?.open();
  await waitForTitle(page, '(1) Go · tau');
  await look(page, 'visible');
  await submitPrompt(page, 'Go further');
  await main.getByText('Hm,').waitFor();
  await look(page, 'hidden');
  gates[1]?.open();
  await waitForTitle(page, '(1) Go · tau');

  expect(await told(page)).toEqual(['Go · tau: Done', 'Go · tau: Failed: 500 Out of paper']);
  expect(await page.evaluate('new Promise((done) => { window.focus = () => done(true); latest.onclick(); })')).toBe(
    true,
  );
  expect(complaints).toEqual([]);
});

it('what was read on coming back has been read', async () => {
  const gate = newGate();
  const script = [{ steps: [{ text: 'Well, ' }, { await: gate.path }] }];
  const { page } = await visit((await servePage({ script })).loginLink);
  const row = page.getByRole('navigation', { name: 'Sessions' }).getByRole('listitem').filter({ hasText: 'Go' });
  await submitPrompt(page, 'Go');
  await row.getByRole('img', { name: 'Running' }).waitFor();

  await look(page, 'hidden');
  gate.open();
  await row.getByRole('img', { name: 'Idle' }).waitFor();
  await look(page, 'visible');
  await page.getByRole('button', { name: 'New session', exact: true }).click();
  await page.getByRole('heading', { name: 'New session' }).waitFor();

  expect(await row.getByRole('img').getAttribute('aria-label')).toBe('Idle');
});

it('a question that waits is told, and no longer counts once it was answered elsewhere', async () => {
  const gate = newGate();
  const { home } = homeWithCommands({
    ask: `${waitForFileCode(JSON.stringify(gate.path))} await ctx.ui.confirm('Is it you?', '');`,
  });
  const { page } = await notified(await servePage({ home }));
  await submitPrompt(page, 'say hello');
  await page.waitForURL(/session=/);
  const other = await openTab({ page, complaints: [] });
  await messageBox(other.page).waitFor();
  await submitPrompt(page, '/ask');

  await look(other.page, 'hidden');
  await look(page, 'hidden');
  gate.open();
  await waitForTitle(page, '(1) say hello · tau');
  await look(other.page, 'visible');
  await other.page.getByRole('form', { name: 'Is it you?' }).getByRole('button', { name: 'Yes' }).click();
  await waitForTitle(page, 'say hello · tau');

  expect(await told(page)).toEqual(['say hello · tau: Waits for an answer: Is it you?']);
});

it('a run that is watched in another tab is a run that is watched', async () => {
  const gates = [newGate(), newGate()];
  const script = gates.map(({ path }) => ({ steps: [{ text: 'Well, ' }, { await: path }, { text: 'done.' }] }));
  const { page } = await notified(await servePage({ script }));
  await submitPrompt(page, 'Go');
  await page.waitForURL(/session=/);
  const other = await openTab({ page, complaints: [] });
  const done = (at: number) => other.page.locator('main').getByText('Well, done.').nth(at).waitFor();
  await other.page.locator('main').getByText('Well,').waitFor();

  await look(page, 'hidden');
  gates[0]?.open();
  await done(0);
  await submitPrompt(other.page, 'Go on');
  await other.page.locator('main').getByText('Well,').nth(1).waitFor();
  await look(other.page, 'hidden');
  gates[1]?.open();
  await waitForTitle(page, '(1) Go · tau');

  expect(await told(page)).toEqual(['Go · tau: Done']);
});

it('who looks away at once is not taken for somebody who watches', async () => {
  const { page } = await visit((await servePage()).loginLink);
  await submitPrompt(page, 'say hello');
  await page.waitForURL(/session=/);
  const held = () => page.evaluate('navigator.locks.query().then(({ held, pending }) => held.length + pending.length)');
  await expect.poll(held).toBe(1);

  await look(page, 'hidden');
  await page.evaluate(`for (const state of ['visible', 'hidden']) {
    Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }`);

  // One that is granted after this was asked for before.
  await page.evaluate("navigator.locks.request('another', () => {})");
  await expect.poll(held).toBe(0);
});

/** Settles when everything is drawn that there is, with what happens behind that. */
const drawn = (page: Page) =>
  page.evaluate(`new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(done))));
  })`);

/** A minute goes by for whatever is on the page. */
async function wait(page: Page): Promise<void> {
  await drawn(page);
  await page.clock.fastForward(60_000);
  await drawn(page);
}

it('nobody is asked before a run has lasted a while, and only after a click; a no is remembered', async () => {
  const gate = newGate();
  const steps = [{ text: 'Well, ' }, { await: gate.path }];
  const server = await servePage({ script: [{ steps, keep: true, when: 'Go' }] });
  const { page, complaints } = await notified(server, 'default');
  await page.clock.install();
  await page.reload();
  await submitPrompt(page, 'Go');
  await page.locator('main').getByText('Well,').waitFor();
  await drawn(page);
  const early = await offer(page).count();
  await wait(page);
  await offer(page).waitFor();
  await page.getByRole('button', { name: 'No, thanks' }).click();
  await offer(page).waitFor({ state: 'detached' });
  await page.reload();
  await page.locator('main').getByText('Well,').waitFor();
  await wait(page);
  const declined = await offer(page).count();
  await page.evaluate('localStorage.clear()');
  await page.reload();
  await page.locator('main').getByText('Well,').waitFor();
  await wait(page);
  await offer(page).click();
  await offer(page).waitFor({ state: 'detached' });

  expect([early, declined]).toEqual([0, 0]);
  expect(await page.evaluate('Notification.permission')).toBe('granted');
  expect(complaints).toEqual([]);
});

it('what would hide or reorder a title is shown by its number, in the tab and by the system', async () => {
  const gate = newGate();
  const script = [{ steps: [{ text: 'Well, ' }, { await: gate.path }] }];
  const { page } = await notified(await servePage({ script }));
  await submitPrompt(page, 'Go \u202Egnp.exe');
  await page.locator('main').getByText('Well,').waitFor();
  await waitForTitle(page, 'Go U+202Egnp.exe · tau');

  await look(page, 'hidden');
  gate.open();
  await waitForTitle(page, '(1) Go U+202Egnp.exe · tau');

  expect(await told(page)).toEqual(['Go U+202Egnp.exe · tau: Done']);
});
