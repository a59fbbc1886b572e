import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { serveApprovals } from '../support/page/approvals-server.ts';
import { useBrowser, type ViewOptions } from '../support/page/browser.ts';
import { visibleText } from '../support/page/export-page.ts';
import { button, main, messageBox, visitByLoginLink, visitWithScopes } from '../support/page/page-actions.ts';
import { submitPrompt } from '../support/page/page-server.ts';
import { Traffic, watchFrames } from '../support/page/socket-frames.ts';

const { visit } = useBrowser();

const chip = (page: Page, name: string) => page.getByRole('button', { name: `Approvals: ${name}` });
const sheet = (page: Page) => page.getByRole('dialog', { name: 'What runs without a question' });

const ON = {
  approvalMode: 'ask',
  approvalModes: ['plan', 'ask', 'edit', 'auto', 'full'],
  sandbox: { status: 'on', engine: 'bubblewrap', network: 'ask', writable: ['/home/ada/project'] },
};

const FULL = { ...ON, approvalMode: 'full', sandbox: { status: 'off' } };

async function visitWithState(options: Parameters<typeof serveApprovals>[0], view: ViewOptions = {}) {
  return visitByLoginLink(visit, await serveApprovals(options), view);
}

it('the mode picker names what runs without a question and the state of the sandbox, and sets the mode', async () => {
  const { page, complaints } = await visitWithState({ state: ON });
  await chip(page, 'ask').click();
  await sheet(page).getByRole('option').first().waitFor();
  const modes = await sheet(page).getByRole('option').allInnerTexts();
  const current = await sheet(page).getByRole('option', { selected: true }).textContent();
  const sandbox = (await visibleText(sheet(page).getByRole('region', { name: 'Sandbox' }))).replaceAll(/\s+/g, ' ');
  await sheet(page).getByRole('option', { name: 'auto' }).click();
  await chip(page, 'auto').waitFor();

  expect(modes.map((text) => text.split(/\s/)[0])).toEqual(['plan', 'ask', 'edit', 'auto', 'full']);
  expect(current).toContain('edits and commands need your approval');
  expect(sandbox).toBe(
    'Sandbox on bubblewrap Commands may change /home/ada/project Network each new host needs your approval',
  );
  await sheet(page).waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
});

it('a refused mode is shown with the words of the agent, and the mode stays', async () => {
  const { page } = await visitWithState({ state: ON, refused: { full: 'This token may choose at most auto' } });
  await chip(page, 'ask').click();

  await sheet(page).getByRole('option', { name: 'full' }).click();

  await sheet(page).getByRole('alert').getByText('This token may choose at most auto').waitFor();
  await page.keyboard.press('Escape');
  await chip(page, 'ask').waitFor();
});

it('a mode that confines commands also turns the sandbox on where it is off', async () => {
  const { page } = await visitWithState({ state: { ...ON, sandbox: { status: 'off' } } });
  const frames = await watchFrames(page);
  await chip(page, 'ask').click();
  await sheet(page).getByText('Commands run with your rights. Any mode but full turns it on.').waitFor();

  await sheet(page).getByRole('option', { name: /^edit/ }).click();

  expect(await frames.nextFromPage({ type: 'set_approval_mode' })).toMatchObject({ mode: 'edit', sandbox: 'auto' });
});

it('the header warns of mode full, and of a missing sandbox in mode auto with its reason and the remedy', async () => {
  const unavailable = { status: 'unavailable', reason: 'bwrap: setting up uid map: Permission denied' };
  const { page } = await visitWithState({ state: { ...ON, approvalMode: 'auto', sandbox: unavailable } });

  await page.getByText('auto, no sandbox').waitFor();
  await chip(page, 'auto, no sandbox. Each command needs your approval. bwrap: setting up').click();
  await sheet(page).getByText('bwrap: setting up uid map: Permission denied').waitFor();
  await sheet(page).getByText('Run tau doctor on the machine of the agent: it names the remedy.').waitFor();
  await sheet(page).getByRole('option', { name: 'full' }).click();

  await chip(page, 'full access. Everything runs without a question and outside a sandbox')
    .getByText('full access')
    .waitFor();
});

it('saved approvals are listed with their scope and can be revoked', async () => {
  const saved = [
    { rule: 'bash(npm test)', scope: 'project', at: '2026-11-19T20:00:00Z' },
    { rule: 'files__write', scope: 'session' },
  ];
  const { page } = await visitWithState({ state: ON, saved });
  await chip(page, 'ask').click();
  const items = sheet(page).getByRole('listitem');
  await items.first().waitFor();
  const before = await items.allInnerTexts();

  await button(page, 'Revoke bash(npm test)').click();
  await items.nth(1).waitFor({ state: 'detached' });
  await button(page, 'Revoke files__write').click();
  await sheet(page).getByText('None: what you always allow is listed here.').waitFor();
  await page.keyboard.press('Escape');
  await chip(page, 'ask').click();
  await sheet(page).getByText('None: what you always allow is listed here.').waitFor();

  expect(before.map((text) => text.replaceAll(/\s+/g, ' ').trim())).toEqual([
    'bash(npm test) in this project Revoke',
    'files__write in this session Revoke',
  ]);
});

it('an agent without approval modes shows no mode, and a view-only login cannot open the picker', async () => {
  const { page } = await visitWithState({ state: { approvalMode: null } });
  await page.getByRole('button', { name: /^Thinking/ }).waitFor();
  expect(await chip(page, '').count()).toBe(0);

  const server = await serveApprovals({ state: ON });
  const own = await visitByLoginLink(visit, server);
  await submitPrompt(own.page, 'say hello');
  await own.page.waitForURL(/session=/);
  const viewer = await visitWithScopes(visit, server, { scopes: 'view', address: own.page.url() });
  await viewer.page.getByTitle('Approvals: ask').waitFor();
  expect(await chip(viewer.page, 'ask').count()).toBe(0);
});

it('a new session of the page requests auto with a sandbox once, also if its first prompt was faster', async () => {
  const { page, complaints } = await visitWithState({ state: FULL });
  await chip(page, 'auto').waitFor();
  await submitPrompt(page, 'say hello');
  await page.waitForURL(/session=/);
  const traffic = new Traffic();
  await traffic.watch(page);
  await page.reload();
  await chip(page, 'auto').waitFor();

  traffic.hold('"type":"state_synced"');
  await page.keyboard.press('Control+Shift+O');
  await submitPrompt(page, 'say goodbye');
  await page.locator('.outbox').getByText('say goodbye').waitFor();
  traffic.release();
  await chip(page, 'auto').waitFor();
  await main(page).getByText('goodbye', { exact: true }).waitFor();
  await page.reload();
  await chip(page, 'auto').waitFor();

  const sent = traffic.sent.map((text) => JSON.parse(text)).filter(({ type }) => type === 'set_approval_mode');
  expect(sent).toEqual([expect.objectContaining({ mode: 'auto', sandbox: 'auto' })]);
  expect(complaints).toEqual([]);
});

it('a session with an answer keeps the mode that the user has chosen', async () => {
  const { page } = await visitWithState({ state: FULL });
  await chip(page, 'auto').waitFor();
  await submitPrompt(page, 'say hello');
  await page.waitForURL(/session=/);
  await main(page).getByText('hello', { exact: true }).waitFor();
  await chip(page, 'auto').click();
  await sheet(page).getByRole('option', { name: 'full' }).click();
  await chip(page, 'full').waitFor();

  const frames = await watchFrames(page);
  await chip(page, 'full').waitFor();
  await messageBox(page).waitFor();

  expect(frames.sent.filter(({ type }) => type === 'set_approval_mode')).toEqual([]);
});
