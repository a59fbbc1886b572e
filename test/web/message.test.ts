import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { useBrowser } from '../support/page/browser.ts';
import { visibleText } from '../support/page/export-page.ts';
import { renderMessage, writeMessagePage } from '../support/page/message-page.ts';
import { assistantMessage } from '../support/sessions/stored-session.ts';

const { open } = useBrowser();
let file = '';
beforeAll(async () => {
  file = await writeMessagePage();
});

const call = (name: string, args: object) => ({ type: 'toolCall', id: 'one', name, arguments: args });
const calling = (name: string, args: object) =>
  assistantMessage({ content: [call(name, args)], stopReason: 'toolUse' });
const result = (text: string, more: object = {}) => ({
  role: 'toolResult',
  toolCallId: 'one',
  content: [{ type: 'text', text }],
  isError: false,
  ...more,
});
const running = (text: string) => ({
  toolCallId: 'one',
  toolName: 'bash',
  args: {},
  progress: { content: [{ type: 'text' as const, text }] },
});
const lines = (count: number) => Array.from({ length: count }, (_, line) => `line ${line}`).join('\n');
const card = (page: Page) => page.locator('section.tool');
const isOpen = async (locator: Locator) => (await locator.locator('details').first().getAttribute('open')) !== null;
const heightOf = async (locator: Locator) => (await locator.boundingBox())?.height;

it('a running command shows the end of its output at a fixed height, and its card stays open when it ends', async () => {
  const { page, complaints } = await open(file);
  const message = calling('bash', { command: 'make all', timeout: 60 });

  await renderMessage(page, { message, progress: { one: 'waiting' } });
  const waiting = await visibleText(card(page));
  await renderMessage(page, { message, progress: { one: running(lines(20)) } });
  await card(page).getByText('line 19').waitFor();
  const [heightBefore, before] = [await heightOf(card(page)), await visibleText(card(page))];
  await renderMessage(page, { message, progress: { one: running(lines(300)) } });
  const [heightAfter, after] = [await heightOf(card(page)), await visibleText(card(page))];
  await renderMessage(page, { message, results: { one: result(lines(300), { durationMs: 61_000 }) } });
  const finished = await visibleText(card(page));

  expect(waiting).toMatch(/bash\s+make all\s+waiting/);
  expect(before).toMatch(/at most 60 s\s+running/);
  expect(before).toContain('Show all 20 lines');
  expect(after).toContain('line 299');
  expect(after).not.toContain('line 250');
  expect(heightAfter).toBe(heightBefore);
  expect(finished).toContain('300 lines · 1\u00a0min 1\u00a0s');
  expect([await isOpen(card(page)), await heightOf(card(page))]).toEqual([true, heightAfter]);
  expect(complaints).toEqual([]);
});

it('truncated command output is counted as the last lines', async () => {
  const { page } = await open(file);
  const message = calling('bash', { command: 'seq 3000' });
  const details = { truncation: { truncated: true }, fullOutputPath: '/tmp/all.log' };
  const notice = 'Showing lines 1001-3000 of 3000. Full output: /tmp/all.log';
  const text = `${lines(2000)}\n\n[${notice}]`;
  const failed = result(`${text}\n\nCommand exited with code 1`, { isError: true, details });

  await renderMessage(page, { message, results: { one: result(text, { details }) } });
  const head = await visibleText(page.locator('.outcome'));
  await renderMessage(page, { message, results: { one: failed } });
  await card(page).getByText(notice).waitFor();
  const output = await visibleText(card(page));
  await page.getByRole('button', { name: 'Show the last 2,000 lines' }).click();
  await renderMessage(page, { message, results: { one: result(`${lines(20)}\n\n[the end]`) } });

  expect(head).toBe('the last 2,000 lines');
  expect(output).toContain(notice);
  expect(output).not.toContain('Command exited');
  expect(await visibleText(page.locator('.outcome'))).toBe('22 lines');
  expect(await visibleText(page.locator('.output'))).toContain('[the end]');
});

it('a very long line is counted in characters and stays inside its card', async () => {
  const { page } = await open(file);
  const long = 'x'.repeat(40_000);
  const width = (locator: Locator) => locator.evaluate((element) => element.scrollWidth - element.clientWidth);

  await renderMessage(page, {
    message: calling('bash', { command: 'head' }),
    results: { one: result(`${long}\ngreen\ndone`) },
  });
  const cut = await visibleText(page.locator('.output'));
  await page.getByRole('button', { name: 'Show all 40,011 characters' }).click();
  await page.locator('.unclip').waitFor({ state: 'detached' });
  const [output, overflow] = [await visibleText(page.locator('.output')), await width(page.locator('.output'))];
  await renderMessage(page, {
    message: calling('write', { path: 'long.txt', content: long }),
    results: { one: result('ok') },
  });
  await page.getByRole('button', { name: 'Show all 40,000 characters' }).waitFor();

  expect(cut).toContain('green');
  expect(output.startsWith(long)).toBe(true);
  expect([overflow, await width(page.locator('.diff'))]).toEqual([0, 0]);
});

it('folding by the reader survives redraws', async () => {
  const { page } = await open(file);
  const message = calling('bash', { command: 'make' });
  await renderMessage(page, { message, progress: { one: running('begun') } });
  await card(page).getByText('begun').waitFor();

  await card(page).getByText('bash').click();
  await card(page).getByText('begun').waitFor({ state: 'hidden' });
  await renderMessage(page, { message, progress: { one: running('begun\nand on') } });
  const folded = await isOpen(card(page));
  await renderMessage(page, { message, results: { one: result(lines(50)) } });
  await card(page).getByText('bash').click();
  await card(page).getByText('line 49').waitFor();
  await page.getByRole('button', { name: 'Show all 50 lines' }).click();
  await renderMessage(page, { message: { ...message }, results: { one: result(lines(50)) } });

  expect(folded).toBe(false);
  expect(await visibleText(card(page))).toContain('line 0\n');
});

it('streaming thinking stays folded and shows its last line; once opened it stays open', async () => {
  const { page } = await open(file);
  const thinking = (text: string) => assistantMessage({ content: [{ type: 'thinking', thinking: text }] });
  const thoughts = page.locator('details.thinking');

  await renderMessage(page, { message: thinking('First this.\nThen th'), isStreaming: true });
  const [folded, height] = [await visibleText(thoughts), await heightOf(thoughts)];
  await renderMessage(page, {
    message: thinking(`First this.\nThen that. ${'And so on. '.repeat(40)}`),
    isStreaming: true,
  });
  const heightLater = await heightOf(thoughts);
  await thoughts.locator('summary').click();
  await thoughts.locator('.markdown').getByText('First this.').waitFor();
  await renderMessage(page, { message: thinking('First this.\nThen that.\nAnd it is so.'), isStreaming: true });
  await renderMessage(page, { message: thinking('First this.\nThen that.\nAnd it is so.') });

  expect(folded).toBe('Thinking Then th');
  expect(heightLater).toBe(height);
  expect(await visibleText(thoughts.locator('.markdown'))).toContain('And it is so.');
});

it('folded thinking shows its text without markdown marks', async () => {
  const { page } = await open(file);
  const thinking = (text: string) => assistantMessage({ content: [{ type: 'thinking', thinking: text }] });
  const head = page.locator('details.thinking summary');

  await renderMessage(page, { message: thinking('# Aim\n**Planning** to call `make_all` with 2**10 jobs') });
  const finished = await visibleText(head);
  await renderMessage(page, { message: thinking('First.\n\n**Looking at `a'), isStreaming: true });

  expect(finished).toBe('Thinking 8 words · Aim Planning to call make_all with 2**10 jobs');
  expect(await visibleText(head)).toBe('Thinking Looking at a');
});

it('every tool card shows its status: waiting, running, no result, failed, stopped or the duration', async () => {
  const { page } = await open(file);
  const outcomes: string[] = [];
  const record = async (state: object) => {
    await renderMessage(page, { message: calling('deploy', { branch: 'main' }), ...state });
    outcomes.push(await visibleText(page.locator('.outcome')));
  };

  await record({ isStreaming: true });
  await record({ progress: { one: 'waiting' } });
  await record({ progress: { one: running('half') } });
  await record({});
  await record({ results: { one: result('It broke', { isError: true }) } });
  const failed = await visibleText(card(page));
  await record({ results: { one: result('Operation aborted', { isError: true }) } });
  const stopped = { words: await visibleText(card(page)), isFailed: await page.locator('.tool.failed').count() };
  await record({ results: { one: result('done', { durationMs: 2500 }) } });

  expect(outcomes).toEqual(['waiting', 'waiting', 'running', 'no result', 'failed', 'stopped', '2.5\u00a0s']);
  expect(failed).toContain('It broke');
  expect(stopped).toEqual({ words: expect.not.stringContaining('aborted'), isFailed: 0 });
});

it('every aborted tool is shown as stopped, not as failed', async () => {
  const { page } = await open(file);
  const stopped: string[] = [];
  const record = async (drawn: { message: object; results?: Record<string, object> }) => {
    await renderMessage(page, drawn);
    stopped.push(await visibleText(page.locator('.tool.stopped .outcome')));
  };
  const aborted = { one: result('half\n\nCommand aborted', { isError: true, durationMs: 1500 }) };

  await record({ message: calling('bash', { command: 'make' }), results: aborted });
  const output = await visibleText(page.locator('.output'));
  await record({ message: { role: 'bashExecution', command: 'sleep 9', output: '', cancelled: true } });
  for (const name of ['read', 'write', 'edit', 'grep', 'find']) {
    const message = calling(name, { path: 'a.ts', content: 'x' });
    await record({ message, results: { one: result('Operation aborted', { isError: true }) } });
    expect(await page.locator('.tool').getByText('aborted').count()).toBe(0);
  }
  await renderMessage(page, {
    message: calling('bash', { command: 'x' }),
    results: { one: result('a\nOperation aborted') },
  });

  expect(stopped[0]).toBe('stopped · 1.5\u00a0s');
  expect(stopped[1]).toBe('no output · stopped');
  expect(stopped.slice(2)).toEqual(Array.from({ length: 5 }, () => 'stopped'));
  expect(output).toBe('half');
  expect(await visibleText(page.locator('.output'))).toBe('a\nOperation aborted');
});

it('an edit marks the changed words; a long diff shows its first lines', async () => {
  const { page } = await open(file);
  const diff = '  9 function total() {\n-10   return sum - one;\n+10   return sum - two;\n 11 }';
  await renderMessage(page, {
    message: calling('edit', { path: 'src/shop.ts' }),
    results: { one: result('done', { details: { diff } }) },
  });

  const [removed, added, numbers] = [
    await visibleText(page.locator('.diff-line del')),
    await visibleText(page.locator('.diff-line ins')),
    await page.locator('.diff-line .line-number').allInnerTexts(),
  ];
  const head = await visibleText(card(page));
  await renderMessage(page, {
    message: calling('write', { path: 'new.txt', content: lines(200) }),
    results: { one: result('ok') },
  });
  const some = await page.locator('.diff-line.added').count();
  await page.getByRole('button', { name: 'Show all 200 lines' }).click();
  await page.locator('.diff-line').getByText('line 199', { exact: true }).waitFor();

  expect([removed, added, numbers]).toEqual(['one', 'two', ['9', '10', '10', '11']]);
  expect(head).toContain('+1 −1');
  expect(some).toBe(12);
  expect(await page.locator('.diff-line.added').count()).toBe(200);
});

it('a write over an existing file shows a diff', async () => {
  const { page } = await open(file);
  const message = calling('write', { path: 'src/shop.ts', content: 'const one = 1;\nconst two = 3;\n' });
  const diff = ' 1 const one = 1;\n-2 const two = 2;\n+2 const two = 3;';

  await renderMessage(page, { message, progress: { one: running('') } });
  const requested = await visibleText(page.locator('.diff-line.added'));
  await renderMessage(page, { message, results: { one: result('ok', { details: { diff } }) } });
  const [head, removed, added] = [
    await visibleText(page.locator('.tool-head')),
    await visibleText(page.locator('.diff-line del')),
    await visibleText(page.locator('.diff-line ins')),
  ];
  await renderMessage(page, { message, results: { one: result('ok', { details: { diff: '   ...' } }) } });

  expect(requested).toContain('const one = 1;');
  expect(head).toMatch(/write\s+src\/\s*shop\.ts\s+\+1 −1/);
  expect([removed, added]).toEqual(['2', '3']);
  expect(await visibleText(page.locator('.outcome'))).toBe('unchanged');
  expect(await page.locator('.tool details').count()).toBe(0);
});

it('search results are lists: grep matches by file, paths and names one per line', async () => {
  const { page } = await open(file);
  const found = 'src/a.ts:3: const coupon = 1;\nsrc/a.ts-4- next\nsrc/b.ts:7: coupon();\n\n[2 matches limit reached]';
  await renderMessage(page, {
    message: calling('grep', { pattern: 'coupon', path: 'src' }),
    results: { one: result(found) },
  });
  const grep = { text: await visibleText(card(page)), marks: await page.locator('mark').allInnerTexts() };
  const paths = Array.from({ length: 100 }, (_, index) => `src/part/file-${index}.ts`);
  await renderMessage(page, {
    message: calling('find', { pattern: '*.ts' }),
    results: { one: result(paths.join('\n')) },
  });
  const isListed = await isOpen(card(page));
  await card(page).locator('summary').click();
  await page.getByRole('button', { name: 'Show all 100 paths' }).click();
  await page.getByText('file-99.ts').waitFor();
  await renderMessage(page, { message: calling('ls', {}), results: { one: result('(empty directory)') } });

  expect(grep.text).toMatch(/coupon in src\s+2 matches in 2 files/);
  expect(grep.text).toContain('2 matches limit reached');
  expect(grep.marks).toEqual(['coupon', 'coupon']);
  expect(isListed).toBe(false);
  expect(await visibleText(card(page))).toMatch(/ls\s+\.\s+nothing/);
});

it('a plan shows which tasks are done', async () => {
  const { page } = await open(file);
  const tasks = [
    { id: '1', content: 'Look', status: 'completed' },
    { id: '2', content: 'Mend', status: 'in_progress' },
  ];
  const details = { phases: [{ id: 'a', name: 'The shop', tasks }] };
  await renderMessage(page, { message: calling('todo', { ops: [] }), results: { one: result('…', { details }) } });

  const head = await visibleText(card(page));
  await card(page).locator('summary').click();
  await page.getByRole('img', { name: 'done' }).getByText('●').waitFor();

  expect(head).toMatch(/todo\s+Mend\s+1 of 2 done/);
  expect(await visibleText(page.locator('.plan'))).toContain('The shop');
});

it('an assistant message can be copied as markdown and shows why it stopped', async () => {
  const { page } = await open(file);
  await page.evaluate('navigator.clipboard.writeText = async (text) => void (window.copied = text)');
  const content = [{ type: 'text', text: 'It is **so**.' }];

  await renderMessage(page, { message: assistantMessage({ content, durationMs: 1500, stopReason: 'length' }) });
  await page.locator('.response').hover();
  await page.getByRole('button', { name: 'Copy' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const whole = await visibleText(page.locator('main'));
  await renderMessage(page, {
    message: assistantMessage({ content, stopReason: 'error', errorMessage: 'Overloaded' }),
  });

  expect(await page.evaluate('copied')).toBe('It is **so**.');
  expect(whole).toContain('Cut off');
  expect(whole).toContain('scripted · 10 in · 5 out · 1.5\u00a0s');
  expect(await visibleText(page.locator('.failure'))).toBe('Overloaded');
});

it('a long user message is clipped until it is expanded; attachments of old sessions are listed by name', async () => {
  const { page } = await open(file);
  const attachments = [{ fileName: 'plan.pdf' }, { mimeType: 'text/plain' }, 7];
  await renderMessage(page, { message: { role: 'user', content: lines(200), attachments } });

  const cut = (await heightOf(page.locator('.bubble'))) ?? 0;
  await page.getByRole('button', { name: 'Show all 200 lines' }).click();
  await page.getByRole('button', { name: 'Show all 200 lines' }).waitFor({ state: 'detached' });

  expect(await heightOf(page.locator('.bubble'))).toBeGreaterThan(cut * 4);
  expect(await page.getByRole('listitem').allInnerTexts()).toEqual(['plan.pdf', 'text/plain', 'A file of no name']);
});

it('malformed and unknown messages are shown without errors, hidden ones are not shown', async () => {
  const { page, complaints } = await open(file);
  const odd = [
    { role: 'prophet', words: '<b>soon</b>' },
    { role: 'assistant', content: [{ type: 'hologram' }, null, 7, { type: 'toolCall' }], usage: [] },
    { role: 'user', content: { a: 1 }, attachments: 'none' },
    { role: 'bashExecution', command: 7, output: null, exitCode: 'x' },
    { role: 'custom', display: true, content: 5 },
    { role: 'compactionSummary', tokensBefore: 41_234 },
    { role: 'branchSummary', summary: ['x'] },
    { role: 'custom', display: false, content: 'hidden' },
    {},
  ];
  const shown: string[] = [];
  for (const message of odd) {
    await renderMessage(page, { message });
    shown.push((await visibleText(page.locator('main'))).replaceAll(/\s+/g, ' ').trim());
  }

  expect(shown).toEqual([
    'prophet',
    'A part of an unknown type: hologram A part of an unknown type: A part of an unknown type: no result',
    '',
    'bash no output',
    '',
    'Compacted from 41k tokens',
    'Came back from another branch',
    '',
    'A message of no role',
  ]);
  expect(complaints).toEqual([]);
});

it('hidden and bidirectional characters are shown by code point in long texts and MIME types', async () => {
  const { page } = await open(file);
  const picture = { type: 'image', mimeType: 'image/\u202egnp', data: 'AAAA' };

  await renderMessage(page, { message: { role: 'user', content: [picture] } });
  expect(await visibleText(page.locator('.note'))).toBe('A picture that is not shown (image/U+202Egnp)');

  await renderMessage(page, {
    message: assistantMessage({ content: [{ type: 'text', text: `${'x'.repeat(200_000)}\u202ey` }] }),
  });
  await page.locator('.plain .hidden-character', { hasText: 'U+202E' }).waitFor();
});

it('invalid image data is not shown as a picture, however long it is', async () => {
  const { page } = await open(file);
  const picture = { type: 'image', mimeType: 'image/png', data: `${' '.repeat(500_000)}!` };

  await renderMessage(page, { message: { role: 'user', content: [picture] } });

  await page.getByText('A picture that is not shown (image/png)').waitFor();
});

it('an enlarged picture is closed by its corner button and by a click on it', async () => {
  const { page } = await open(file);
  const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';
  await renderMessage(page, { message: { role: 'user', content: [{ type: 'image', mimeType: 'image/png', data }] } });
  const enlarge = page.getByRole('button', { name: 'Enlarge the picture' });
  const close = page.getByRole('button', { name: 'Close the picture' });
  const width = Number(await page.evaluate('document.documentElement.clientWidth'));

  await enlarge.click();
  await close.waitFor();
  await page.mouse.click(width - 40, 30);
  await close.waitFor({ state: 'detached' });
  await enlarge.click();
  await page.locator('dialog img').click();
  await close.waitFor({ state: 'detached' });

  expect(await enlarge.evaluate((button) => button === document.activeElement)).toBe(true);
});
