import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { callTool } from '../support/agent/extensions.ts';
import { newHome, writeSettings } from '../support/agent/test-agent.ts';
import { homeWithFiles, providerConfig as provider } from '../support/agent/user-files.ts';
import { openTab, useBrowser } from '../support/page/browser.ts';
import { waitForCondition } from '../support/page/conversation-view.ts';
import { visibleText } from '../support/page/export-page.ts';
import { button, messageBox, visitByLoginLink, visitWithScopes } from '../support/page/page-actions.ts';
import { servePage, submitPrompt } from '../support/page/page-server.ts';
import { Traffic } from '../support/page/socket-frames.ts';

const { visit } = useBrowser();

const active = (page: Page) => page.locator('.picker-row.active');

/** Sends the first message of a session and waits until it has its own address. */
async function startSession(page: Page, text: string): Promise<void> {
  await submitPrompt(page, text);
  await page.waitForURL(/session=/);
}

it('model and thinking level can be chosen by keyboard alone, and every tab shows them', async () => {
  const server = await servePage();
  const one = await visit(server.loginLink);
  const { page } = one;
  await startSession(page, 'say hello');
  const other = await openTab(one);

  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search: Models' }).waitFor();
  await expect.poll(() => visibleText(active(page))).toContain('Scripted');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await button(other.page, 'Model: Scripted (small)').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  const chips = await other.page.getByRole('button', { name: /^Thinking/ }).count();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').waitFor();
  await page.keyboard.type('slw');
  await expect.poll(() => visibleText(page.getByRole('option'))).toMatch(/^Scripted \(slow\)/);
  await page.keyboard.press('Enter');
  await button(other.page, 'Model: Scripted (slow)').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await page.keyboard.press('Control+.');
  await page.getByRole('listbox', { name: 'Thinking levels' }).getByRole('option').first().waitFor();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');

  await button(other.page, 'Thinking: max').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await page.keyboard.press('Control+.');
  await page.getByRole('listbox', { name: 'Thinking levels' }).getByRole('option').first().waitFor();
  await page.keyboard.type('high');
  await page.keyboard.press('Enter');

  await button(other.page, 'Thinking: high').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  expect(chips).toBe(0);
  expect([...one.complaints, ...other.complaints]).toEqual([]);
});

it('typing filters a long list of models, and a choice can be made the default of new sessions', async () => {
  const models = Array.from({ length: 300 }, (_, index) => ({ id: `model-${index}`, name: `Number ${index}` }));
  const home = homeWithFiles({
    models: { providers: { shop: provider('http://127.0.0.1:1', { models }), other: provider('http://127.0.0.1:1') } },
  });
  const server = await servePage({ home });
  const view = await visit(server.loginLink);
  const { page } = view;
  const at = async () => (await visibleText(active(page))).split('\n')[0];

  await button(page, 'Model: Number 0').click();
  const group = page.getByRole('group', { name: 'Shop' });
  await group.getByRole('option').first().waitFor();
  const current = await visibleText(page.getByRole('option', { selected: true }));
  const positions: (string | undefined)[] = [];
  for (const key of ['ArrowUp', 'Home', 'PageDown', 'PageUp', 'ArrowDown']) {
    await page.keyboard.press(key);
    positions.push(await at());
  }
  await page.getByText('104 more: type to narrow them down.').waitFor();
  await page.keyboard.type('nothing like it');
  await page.getByText('Nothing fits “nothing like it”.').waitFor();
  await page.getByRole('combobox').fill('shop/model-298');
  await expect.poll(() => visibleText(page.getByRole('option').first())).toContain('Number 298');
  await page.getByRole('combobox').fill('299 shop');
  await expect.poll(() => page.getByRole('option').count()).toBe(1);
  const activeId = await page.getByRole('combobox').getAttribute('aria-activedescendant');
  const found = await page.getByRole('option').getAttribute('id');
  await page.getByLabel('Also for new sessions').check();
  await page.getByRole('combobox').press('Enter');
  await button(page, 'Model: Number 299').waitFor();

  expect(current).toContain('Number 0');
  expect(positions).toEqual(['Number 199', 'Number 0', 'Number 8', 'Number 0', 'Number 1']);
  expect(activeId).toBe(found);
  const settings = JSON.parse(await readFile(join(home.agentDir, 'settings.json'), 'utf8'));
  expect(settings).toMatchObject({ defaultProvider: 'shop', defaultModel: 'model-299' });
  expect(view.complaints).toEqual([]);
});

it('the built-in model can be chosen beside others, and a missing model is reported only without others', async () => {
  const server = await servePage();
  const { page, complaints } = await visit(server.loginLink);
  const picker = page.getByRole('dialog', { name: 'Model' });
  const missing = picker.getByText('No model is configured');
  await button(page, 'Model: Scripted').click();
  await missing.waitFor();
  await page.keyboard.press('Escape');
  const models = { providers: { shop: provider('http://127.0.0.1:1') } };
  await writeFile(join(server.home.agentDir, 'models.json'), JSON.stringify(models));

  await button(page, 'Model: Scripted').click();
  await picker.getByRole('group', { name: 'Shop' }).waitFor();
  const contradictions = await missing.count();
  await picker.getByRole('group', { name: 'Shop' }).getByRole('option').click();
  await button(page, 'Model: m').click();
  await picker.getByRole('group').nth(1).waitFor();
  const groups = await picker.getByRole('group').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
  await picker.getByRole('option', { name: 'Scripted (small)' }).click();

  await button(page, 'Model: Scripted (small)').waitFor();
  expect(contradictions).toBe(0);
  expect(groups).toEqual(['Shop', 'Built in']);
  expect(complaints).toEqual([]);
});

it('the meter shows how full the context is, and a compaction with instructions frees room', async () => {
  const home = newHome();
  writeSettings(home, { compaction: { enabled: false, keepRecentTokens: 50 } });
  const gate = join(home.root, 'gate');
  const usage = { usage: { input: 150_000, output: 1000, cacheRead: 4000 } };
  const script = [
    { steps: [{ text: 'word '.repeat(500) }, usage] },
    { steps: [{ text: 'Short.' }, usage] },
    { steps: [{ await: gate }, { text: 'A summary.' }] },
    { steps: [{ text: 'Well.' }, { usage: { input: 170_000, output: 0 } }] },
  ];
  const one = await visit((await servePage({ home, script })).loginLink);
  const { page } = one;
  await startSession(page, 'Talk');
  await button(page, 'Context: 78% used').waitFor();
  await submitPrompt(page, 'Talk again');
  await expect.poll(() => visibleText(page.locator('.head-title'))).toContain('Talk');
  const other = await openTab(one);
  await button(other.page, 'Context: 78% used').click();

  await button(page, 'Context: 78% used').click();
  const panel = page.getByRole('dialog', { name: 'Context and cost' });
  await expect.poll(() => visibleText(panel)).toMatch(/Messages\n4/);
  const panelText = await visibleText(panel);
  await panel.getByLabel('What the summary should heed').fill('Keep the names');
  await panel.getByRole('button', { name: 'Compact now' }).click();
  await button(other.page, 'Context: is being compacted').waitFor();
  await other.page.getByRole('button', { name: 'Compacting…' }).waitFor();
  await writeFile(gate, '');
  await panel.getByText('tokens became a summary').waitFor();
  await button(other.page, 'Context: unknown until the next answer').waitFor();
  await panel.getByLabel('Compact by itself when nearly full').click();
  await expect.poll(() => panel.getByLabel('Compact by itself when nearly full').isChecked()).toBe(true);
  await expect.poll(() => other.page.getByLabel('Compact by itself when nearly full').isChecked()).toBe(true);
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'hidden' });
  await submitPrompt(page, 'And now?');
  await button(page, 'Context: 85% used').waitFor();

  expect(panelText).toMatch(/155k\s+of 200k tokens\s+78%/);
  expect(panelText).toMatch(/Cost\nnothing\nTokens in\n300k\nTokens out\n2k\nCached\n8k read, 0 written/);
  expect([...one.complaints, ...other.complaints]).toEqual([]);
});

it('the meter requests its numbers again after a run that ended during the request', async () => {
  const script = [{ steps: [{ text: 'Well.' }, { usage: { input: 150_000, output: 0 } }] }];
  const { page } = await visitByLoginLink(visit, await servePage({ script }));
  const traffic = new Traffic();
  await traffic.watch(page);
  traffic.hold('"get_session_stats"');
  const requested = traffic.waitForFrame('"get_session_stats"');
  await page.reload();
  await requested;
  const settled = traffic.waitForFrame('"agent_settled"');
  await startSession(page, 'Talk');
  await settled;

  traffic.release();

  await button(page, 'Context: 75% used').waitFor();
});

it('the panel shows why there is nothing to compact', async () => {
  const view = await visit((await servePage()).loginLink);
  const { page } = view;
  await button(page, 'Context: 0% used').click();

  await button(page, 'Compact now').click();

  await page.getByText('Nothing to compact (session too small)').waitFor();
  expect(view.complaints).toEqual([]);
});

it('the plan is one line that unfolds to a sign and a word for each task', async () => {
  const tasks = [
    { content: 'Read the code', status: 'completed' },
    { content: 'Write the tests', status: 'in_progress', notes: 'half of them' },
    { content: 'Wait for the review', status: 'blocked' },
    { content: 'Draw a logo', status: 'abandoned' },
  ];
  const phases = [
    { name: 'Build', tasks },
    { name: 'Ship', tasks: [{ content: 'Tell <b>everybody</b>', status: 'pending' }] },
  ];
  const script = [callTool('todo', { ops: [{ op: 'replace', phases }] }), { text: 'That is the plan.' }];
  const view = await visit((await servePage({ script, args: ['--tools', '+todo'] })).loginLink);
  const { page } = view;
  await startSession(page, 'Plan it');

  const plan = page.locator('.todos');
  await plan.getByText('1 of 5', { exact: true }).waitFor();
  const folded = await visibleText(plan);
  await plan.getByText('1 of 5', { exact: true }).click();
  await plan.getByText('Wait for the review').waitFor();
  const unfolded = await plan.getByRole('listitem').allInnerTexts();
  // The browser reports the change after it has drawn it.
  await waitForCondition(page, `localStorage.getItem('tau-todos-unfolded') === 'yes'`);
  await page.reload();
  await plan.getByText('Wait for the review').waitFor();

  expect(folded).toBe('1 of 5\nWrite the tests');
  expect(unfolded.map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([
    '● done: Read the code',
    '◐ in progress: Write the tests half of them',
    '⊗ blocked: Wait for the review blocked',
    '⊘ abandoned: Draw a logo abandoned',
    '○ to do: Tell <b>everybody</b>',
  ]);
  expect(await plan.getByRole('heading').allInnerTexts()).toEqual(['Build', 'Ship']);
  expect(view.complaints).toEqual([]);
});

it('a session is renamed in the header by double click or menu, and every tab shows the name', async () => {
  const one = await visit((await servePage()).loginLink);
  const { page } = one;
  await startSession(page, 'say hello');
  const other = await openTab(one);
  const title = page.getByRole('heading', { level: 1 });
  const field = page.getByRole('textbox', { name: 'Name of the session' });

  await title.dblclick();
  await field.fill('First name');
  await field.press('Escape');
  await title.getByText('say hello').waitFor();
  await title.dblclick();
  await field.fill('Second name');
  await field.press('Enter');
  await other.page.getByRole('heading', { level: 1, name: 'Second name' }).waitFor();
  const rename = async () => {
    await button(page, 'Session').click();
    await page.getByRole('menuitem', { name: 'Rename' }).press('Enter');
  };
  await rename();
  await field.press('Escape');
  await button(page, 'Session').and(page.locator(':focus')).waitFor();
  await rename();
  await field.fill('Third name');
  await page.getByRole('main').click();

  await other.page.getByRole('heading', { level: 1, name: 'Third name' }).waitFor();
  expect([...one.complaints, ...other.complaints]).toEqual([]);
});

it('the session menu and the row menu list their shared actions in the same order', async () => {
  const { page } = await visit((await servePage()).loginLink);
  await startSession(page, 'say hello');
  const row = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'say hello' }) });
  await row.hover();

  await row.getByRole('button', { name: 'Actions for say hello' }).click();
  const ofRow = await row.getByRole('menuitem').allInnerTexts();
  await page.keyboard.press('Escape');
  await row.getByRole('menuitem').first().waitFor({ state: 'detached' });
  await button(page, 'Session').click();
  const ofSession = await page.getByRole('menuitem').allInnerTexts();

  expect(ofRow).toEqual(['Rename', 'Clone', 'Export', 'Delete']);
  expect(ofSession.filter((label) => ofRow.includes(label))).toEqual(ofRow);
});

it('the link of a session can be copied, also without the clipboard API', async () => {
  const { page, complaints } = await visit((await servePage()).loginLink);
  await startSession(page, 'say hello');
  await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");

  await button(page, 'Session').click();
  await page.getByRole('menuitem', { name: 'Copy link' }).click();
  await messageBox(page).focus();
  await page.keyboard.press('Control+v');

  await expect.poll(() => messageBox(page).inputValue()).toBe(page.url());
  expect(await visibleText(page.getByRole('region', { name: 'Notices' }))).toBe('The link is in the clipboard.');
  expect(complaints).toEqual([]);
});

it('shortcuts work as their sheet lists them, but not while typing or behind an overlay', async () => {
  const script = [{ text: 'One.' }, { steps: [{ text: 'Endless ' }, { stall: true }] }];
  const view = await visit((await servePage({ script })).loginLink);
  const { page } = view;
  const sheet = page.getByRole('dialog', { name: 'Shortcuts' });
  await startSession(page, 'first');
  await page.getByRole('heading', { name: 'first' }).click();

  await page.keyboard.press('?');
  await sheet.waitFor();
  const listed = await visibleText(sheet);
  await page.keyboard.press('Control+k');
  await page.keyboard.press('Escape');
  await sheet.waitFor({ state: 'hidden' });
  await page.keyboard.press('/');
  await page.keyboard.type('a ? and t');
  const typed = await messageBox(page).inputValue();
  await messageBox(page).fill('');
  await page.keyboard.press('Control+Shift+O');
  await page.getByRole('heading', { name: 'New session' }).waitFor();
  await button(page, 'Model: Scripted').waitFor();
  const fresh = page.url();
  await page.keyboard.press('Alt+ArrowDown');
  await page.getByRole('heading', { name: 'first' }).waitFor();
  await submitPrompt(page, 'second');
  await button(page, 'Stop').waitFor();
  await page.getByRole('heading', { name: 'first' }).click();
  await page.keyboard.press('Escape');
  await button(page, 'Stop').waitFor({ state: 'hidden' });
  const colours = () => page.evaluate('document.documentElement.dataset.theme');
  const before = await colours();
  await page.keyboard.press('Control+Shift+L');
  await expect.poll(colours).toBe('dark');
  const chosen = await page.getByRole('radio', { name: 'Dark colours' }).isChecked();
  await page.keyboard.press('Control+Shift+F');
  await page.getByRole('searchbox', { name: 'Filter sessions' }).and(page.locator(':focus')).waitFor();

  expect([before, chosen]).toEqual(['auto', true]);
  expect(listed).toMatch(/Show this list\s*\?/);
  expect(listed).toMatch(/Choose a model\s*Ctrl\s*K/);
  expect(typed).toBe('a ? and t');
  expect(fresh).not.toContain('session=');
  expect(view.complaints).toEqual([]);
});

it('typing outside of all fields goes to the message box', async () => {
  const { page } = await visit((await servePage({ script: [{ text: 'line\n\n', times: 200 }] })).loginLink);
  await startSession(page, 'Go');
  await button(page, 'Stop').waitFor({ state: 'detached' });
  await page.getByRole('region', { name: 'Conversation' }).focus();
  await page.keyboard.press('PageUp');

  await button(page, 'Jump to latest').click();
  await page.keyboard.type('fix the tests');

  expect(await messageBox(page).inputValue()).toBe('fix the tests');
});

it('a session has the same title whether all of it or only its end was loaded', async () => {
  const { page } = await visit((await servePage({ script: [{ text: 'Yes.' }, { repeat: true }] })).loginLink);
  await startSession(page, 'The first line\n\nand more');
  for (let number = 1; number <= 31; number++) {
    await submitPrompt(page, `again ${number}`);
    await page.getByText(`again ${number}`, { exact: true }).waitFor();
    await button(page, 'Stop').waitFor({ state: 'detached' });
  }

  await page.reload();
  await page.getByText('again 31', { exact: true }).waitFor();

  await page.getByRole('heading', { name: 'The first line', exact: true }).waitFor();
  await expect.poll(() => page.title()).toBe('The first line · tau');
});

it('on a Mac the shortcuts are shown with the keys of a Mac', async () => {
  const { page } = await visitByLoginLink(visit, await servePage());
  await page.addInitScript("Object.defineProperty(navigator, 'platform', { get: () => 'MacIntel' })");
  await page.reload();
  await page.getByRole('heading', { level: 1 }).click();

  await page.keyboard.press('?');

  await page.getByRole('dialog', { name: 'Shortcuts' }).waitFor();
  const sheet = await visibleText(page.getByRole('dialog'));
  await page.keyboard.press('Escape');
  await button(page, 'More about sessions').click();
  await page.getByRole('menuitem', { name: 'New session in a folder…' }).click();

  await page.getByText('↩ goes in, ⌘+↩ begins').waitFor();
  expect(sheet).toMatch(/New session\s*⌘\s*⇧\s*O/);
});

it('a view-only login is offered no changes', async () => {
  const server = await servePage();
  const own = await visit(server.loginLink);
  await startSession(own.page, 'say hello');

  const { page, complaints } = await visitWithScopes(visit, server, { scopes: 'view', address: own.page.url() });
  await page.locator('.chip').getByText('Scripted').waitFor();
  await page.getByRole('button', { name: /^Context/ }).click();
  await page.getByText('Tokens in').waitFor();
  const panel = await visibleText(page.getByRole('dialog', { name: 'Context and cost' }));
  await page.keyboard.press('Escape');
  await page.getByRole('heading', { level: 1 }).dblclick();
  await page.keyboard.press('Control+k');
  await button(page, 'Session').click();

  expect(panel).not.toContain('Compact');
  expect(await page.getByRole('menuitem').allInnerTexts()).toEqual(['Copy link', 'Shortcuts']);
  expect(await page.getByRole('button', { name: /^(?:Model|Thinking)/ }).count()).toBe(0);
  expect(await page.getByRole('textbox', { name: 'Name of the session' }).count()).toBe(0);
  expect(await page.locator('dialog').count()).toBe(0);
  expect(complaints.filter((complaint) => !complaint.includes('401'))).toEqual([]);
});

it('a login without shell access sees no shell shortcut', async () => {
  const server = await servePage();
  const own = await visit(server.loginLink);
  await startSession(own.page, 'say hello');

  const { page } = await visitWithScopes(visit, server, { scopes: 'view,prompt', address: own.page.url() });
  await button(page, 'Session').click();
  await page.getByRole('menuitem', { name: 'Shortcuts' }).click();

  await page.getByRole('dialog', { name: 'Shortcuts' }).waitFor();
  expect(await visibleText(page.getByRole('dialog'))).toContain('Name a file');
  expect(await visibleText(page.getByRole('dialog'))).not.toContain('Run in the shell');
});

it('the header and its panels fit a small phone', async () => {
  const models = [{ id: 'm', name: 'A model with quite a long name that goes on and on', reasoning: true }];
  const home = homeWithFiles({ models: { providers: { shop: provider('http://127.0.0.1:1', { models }) } } });
  const { page } = await visit((await servePage({ home })).loginLink, { width: 360, height: 640 });
  await page.getByRole('button', { name: /^Model/ }).waitFor();
  await page.getByRole('button', { name: /^Context/ }).click();
  await page.getByText('Tokens in').waitFor();

  const width = await page.evaluate('document.documentElement.scrollWidth');
  const right = await page
    .getByRole('dialog')
    .evaluate((panel) => [panel.getBoundingClientRect().left, panel.getBoundingClientRect().right]);
  await page.keyboard.press('Escape');
  await button(page, 'Sessions').click();

  expect(width).toBe(360);
  expect(right[0]).toBeGreaterThanOrEqual(0);
  expect(right[1]).toBeLessThanOrEqual(360);
  expect(await button(page, 'Sessions').getAttribute('aria-expanded')).toBe('true');
});
