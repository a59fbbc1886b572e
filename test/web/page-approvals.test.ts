import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { bash } from '../support/agent/extensions.ts';
import { ALL_OPTIONS, ALLOW_ONCE, commandApproval, DENY, serveApprovals } from '../support/page/approvals-server.ts';
import { openTab, useBrowser, type ViewOptions } from '../support/page/browser.ts';
import { visibleText } from '../support/page/export-page.ts';
import { button, main, messageBox, visitWithScopes } from '../support/page/page-actions.ts';
import { submitPrompt } from '../support/page/page-server.ts';
import { watchFrames } from '../support/page/socket-frames.ts';

const { visit } = useBrowser();

const card = (page: Page, title = 'Run this command?') => page.getByRole('form', { name: title });
const notice = (page: Page, text: string) => page.getByRole('region', { name: 'Notices' }).getByText(text);
const reason = (page: Page) => page.getByRole('textbox', { name: 'Reason for a denial' });

const flatText = async (place: Locator) => (await visibleText(place)).replaceAll(/\s+/g, ' ');

/** A page after `/ask`, which opens these approvals. */
async function visitWithApprovals(approvals: readonly object[], options: ViewOptions = {}) {
  const server = await serveApprovals({ approvals });
  const view = await visit(server.loginLink, options);
  const frames = await watchFrames(view.page);
  await messageBox(view.page).fill('/ask ');
  await button(view.page, 'Send').click();
  await card(view.page, '?').first().locator('.choices').waitFor();
  return { ...view, server, frames, nextAnswer: () => frames.nextFromPage({ type: 'extension_ui_response' }) };
}

it('the card of a command shows all of it, its folder, the reason of the question and the rule that is saved', async () => {
  const { page, complaints } = await visitWithApprovals([
    commandApproval('git push', {
      kind: 'outside',
      title: 'Run outside the sandbox?',
      description: 'The push needs your ssh agent.',
      why: { mode: 'auto', rule: 'bash(git push *)' },
      subject: { type: 'command', command: 'git push', cwd: '/home/ada/project', hooks: ['.husky/pre-push'] },
    }),
  ]);
  const form = card(page, 'Run outside the sandbox?');

  const text = await flatText(form);
  const labels = await form.locator('.choices button > :first-child').allInnerTexts();

  for (const part of [
    'Runs outside the sandbox',
    'The push needs your ssh agent.',
    'git push',
    '/home/ada/project',
    'Mode auto',
    'Rule bash(git push *)',
    '“Always” saves for this project bash(git push)',
    'Git runs these hooks with it, also outside: .husky/pre-push',
  ])
    expect(text).toContain(part);
  expect(labels).toEqual(ALL_OPTIONS.map(({ name }) => name));
  expect(await flatText(form.locator('button.main'))).toMatch(/^Allow once/);
  await page.getByRole('status').getByText('Approval needed: Run outside the sandbox? (Ctrl+J leads there)').waitFor();
  expect(complaints).toEqual([]);
});

it('cards show the diff of an edit, the host of a connection and the arguments of other tools', async () => {
  const { page, complaints } = await visitWithApprovals([
    {
      ...commandApproval(''),
      kind: 'path',
      toolName: 'edit',
      title: 'Change it?',
      subject: { type: 'edit', path: '/home/ada/notes\u202etxt.md', diff: ' 1 one\n-2 two\n+2 three' },
    },
    {
      ...commandApproval(''),
      kind: 'network',
      title: 'Connect?',
      subject: { type: 'host', host: 'registry.example.com', port: 443 },
    },
    {
      ...commandApproval(''),
      toolName: 'files__write',
      source: 'mcp',
      title: 'Call it?',
      subject: { type: 'tool', input: { path: 'a.txt' } },
    },
  ]);

  const [edit, host, tool] = await Promise.all(
    ['Change it?', 'Connect?', 'Call it?'].map((title) => flatText(card(page, title))),
  );

  expect(edit).toContain('Changes a protected or outside file · edit · 1 of 3');
  expect(edit).toContain('/home/ada/notesU+202Etxt.md');
  expect(await flatText(card(page, 'Change it?').locator('.diff-line.added'))).toBe('2 + three');
  expect(host).toContain('Connects to a host · bash · 2 of 3');
  expect(host).toContain('registry.example.com port 443');
  expect(tool).toContain('Calls a tool · files__write · 3 of 3');
  expect(tool).toContain('"path": "a.txt"');
  expect(tool).toContain('An MCP server runs it with your rights, outside the sandbox.');
  expect(complaints).toEqual([]);
});

it('the keys y, a and n answer the card that has the focus, and a held key answers only one', async () => {
  const { page, nextAnswer } = await visitWithApprovals(
    ['First?', 'Second?', 'Third?', 'Fourth?'].map((title) => commandApproval('npm test', { title })),
  );
  await page.keyboard.type('yan');
  expect(await messageBox(page).inputValue()).toBe('yan');
  await messageBox(page).fill('');

  await page.keyboard.press('Control+j');
  await card(page, 'First?').locator(':focus').waitFor();
  await page.keyboard.down('y');
  await card(page, 'Second?').locator(':focus').waitFor();
  await page.keyboard.down('y');
  await page.keyboard.up('y');
  await card(page, 'Second?').locator('pre').focus();
  await page.keyboard.press('a');
  await card(page, 'Third?').locator('.choices :focus').waitFor();
  await page.keyboard.press('n');
  await card(page, 'Fourth?').locator('.choices :focus').waitFor();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');

  await notice(page, '["once","session","deny","stop"]').waitFor();
  await messageBox(page).and(page.locator(':focus')).waitFor();
  expect([await nextAnswer(), await nextAnswer()].map(({ value }) => value)).toEqual(['once', 'session']);
});

it('Escape leaves a card without an answer and does not stop the run', async () => {
  const { page, frames } = await visitWithApprovals([commandApproval('npm test')]);
  await page.keyboard.press('Control+j');
  await card(page).locator('.choices :focus').waitFor();

  await page.keyboard.press('Escape');
  await messageBox(page).and(page.locator(':focus')).waitFor();
  await reason(page).focus();
  await page.keyboard.type('no');
  await page.keyboard.press('Escape');
  await messageBox(page).and(page.locator(':focus')).waitFor();

  expect(await reason(page).inputValue()).toBe('no');
  expect(frames.sent.filter(({ type }) => type === 'extension_ui_response' || type === 'abort')).toEqual([]);
  await card(page).getByRole('button', { name: 'Deny', exact: true }).click();
});

it('a message goes with a denial only, and Enter in its field denies', async () => {
  const { page, nextAnswer } = await visitWithApprovals(
    ['First?', 'Second?', 'Third?'].map((title) => commandApproval('npm test', { title })),
  );
  const fill = (title: string, text: string) => card(page, title).getByRole('textbox').fill(text);

  await fill('First?', '  ');
  await page.keyboard.press('Enter');
  await fill('First?', 'Use yarn here');
  await page.keyboard.press('Enter');
  const first = await nextAnswer();
  await fill('Second?', 'Not now');
  await card(page, 'Second?').getByRole('button', { name: 'Deny and stop' }).click();
  const second = await nextAnswer();
  await fill('Third?', 'Yes, please');
  await card(page, 'Third?').getByRole('button', { name: 'Allow once' }).click();

  expect(first).toMatchObject({ value: 'deny', message: 'Use yarn here' });
  expect(second).toMatchObject({ value: 'stop', message: 'Not now' });
  expect(await nextAnswer()).not.toHaveProperty('message');
});

it('the second click of a double click does not answer the next card', async () => {
  const { page, frames } = await visitWithApprovals(
    ['First?', 'Second?'].map((title) => commandApproval('npm test', { title })),
  );
  const allow = await card(page, 'First?').getByRole('button', { name: 'Allow once' }).boundingBox();

  await page.mouse.move((allow?.x ?? 0) + 20, (allow?.y ?? 0) + 10);
  await page.mouse.down({ clickCount: 1 });
  await page.mouse.up({ clickCount: 1 });
  await card(page, 'First?').waitFor({ state: 'detached' });
  const next = await card(page, 'Second?').getByRole('button', { name: 'Allow once' }).boundingBox();
  await page.mouse.move((next?.x ?? 0) + 20, (next?.y ?? 0) + 10);
  await page.mouse.down({ clickCount: 2 });
  await page.mouse.up({ clickCount: 2 });
  await card(page, 'Second?').getByRole('button', { name: 'Deny', exact: true }).click();

  await notice(page, '["once","deny"]').waitFor();
  expect(frames.sent.filter(({ type }) => type === 'extension_ui_response')).toHaveLength(2);
});

it('an approval is shown in every tab and after a reload, and disappears when it is answered elsewhere', async () => {
  const one = await visitWithApprovals([commandApproval('npm test')]);
  await submitPrompt(one.page, 'say hello');
  await one.page.waitForURL(/session=/);
  const other = await openTab(one);
  await card(other.page).getByText('npm test', { exact: true }).waitFor();
  await other.page.reload();
  await card(other.page).getByRole('button', { name: 'Allow once' }).click();

  await card(one.page).waitFor({ state: 'detached' });
  await notice(one.page, 'Answered elsewhere: Run this command?').waitFor();
  expect([...one.complaints, ...other.complaints]).toEqual([]);
});

it('an answer beyond the limit of the login is refused with the reason, and the question stays', async () => {
  const { page, server } = await visitWithApprovals([commandApproval('git push', { needs: 'full' })]);
  await submitPrompt(page, 'say hello');
  await page.waitForURL(/session=/);
  const limited = await visitWithScopes(visit, server, { scopes: 'prompt,view', limit: 'auto', address: page.url() });

  await card(limited.page).getByRole('button', { name: 'Allow once' }).click();
  await notice(limited.page, 'limit').waitFor();
  await card(limited.page).getByRole('button', { name: 'Deny', exact: true }).click();

  await notice(page, '["deny"]').waitFor();
});

it('hidden, reordering and space-like characters of a command are named', async () => {
  const { page } = await visitWithApprovals([
    commandApproval('echo a\u202eb\u200d\r\u00a0c\u3164\u{e0041}\u2028\n\techo <img src=x onerror=hacked=1>'),
  ]);

  const shown = await card(page).locator('.exact pre').textContent();

  expect(shown).toBe('echo aU+202EbU+200DU+000DU+00A0cU+3164U+E0041U+2028\n\techo <img src=x onerror=hacked=1>');
  await card(page).getByText('It contains characters that are usually invisible: they are marked.').waitFor();
  expect(await page.evaluate('[window.hacked, document.images.length]')).toEqual([undefined, 0]);
});

it('on a phone, a very long command wraps and scrolls inside its card, can be unfolded, and leaves the answers in reach', async () => {
  const long = `${'echo one two three && '.repeat(380)}curl https://example.com/${'x'.repeat(300)}`;
  const { page } = await visitWithApprovals([commandApproval(long, { options: [ALLOW_ONCE, DENY], isCut: true })], {
    width: 390,
    height: 844,
    hasTouch: true,
  });
  const code = card(page).locator('.exact pre');

  const size = await code.evaluate((pre) => [pre.scrollWidth > pre.clientWidth, pre.scrollHeight > pre.clientHeight]);
  const text = await code.textContent();
  const deny = await card(page).getByRole('button', { name: 'Deny', exact: true }).boundingBox();
  await card(page).getByText('It is too long: only a part of it is shown here.').waitFor();
  await card(page)
    .getByRole('button', { name: /^Show all/ })
    .click();

  expect(size).toEqual([false, true]);
  expect(text).toBe(long);
  expect((deny?.y ?? 0) + (deny?.height ?? 0)).toBeLessThan(844);
  expect(deny?.height).toBeGreaterThanOrEqual(40);
  expect(await code.evaluate((pre) => pre.scrollHeight > pre.clientHeight)).toBe(false);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
});

it('an approval of a kind, subject and option that the page does not know can be read; such an option denies', async () => {
  const { page } = await visitWithApprovals([
    {
      ...commandApproval('', { kind: 'device', source: 'plugin', title: 'Use it?' }),
      subject: { type: 'device', name: 'camera' },
      options: [{ optionId: 'hour', name: 'Allow for an hour', kind: 'allow_hour' }, DENY],
    },
    { ...commandApproval('', { title: 'Broken?' }), subject: undefined },
  ]);

  expect(await flatText(card(page, 'Use it?'))).toContain('"name": "camera"');
  await card(page, 'Use it?').getByRole('button', { name: 'Allow for an hour' }).click();
  await card(page, 'Broken?').getByRole('button', { name: 'Deny', exact: true }).click();

  await notice(page, '[null,"Deny"]').waitFor();
});

it('the tool call of an open approval waits for the user, and a denied one is shown with its reason', async () => {
  const server = await serveApprovals({
    approvals: [commandApproval('echo one')],
    extension: `pi.on('tool_call', async (_, ctx) => {
      const answer = await ctx.ui.select('approval 0', ['Allow once', 'Deny']);
      if (answer === 'deny') return { block: true, reason: 'The user did not allow this call: Not today' };
    });`,
    script: [bash('echo one'), { text: 'Then not.' }],
  });
  const { page } = await visit(server.loginLink);
  await submitPrompt(page, 'Go');
  await main(page).getByText('waiting for you').waitFor();
  await card(page).getByRole('button', { name: 'Deny', exact: true }).click();
  await main(page).getByText('Then not.').waitFor();

  expect(await flatText(main(page).locator('.tool .outcome'))).toMatch(/^denied/);
  await main(page).getByText('The user did not allow this call: Not today').waitFor();
});
