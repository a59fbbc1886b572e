import { expect, it } from 'vitest';
import { useBrowser } from '../support/page/browser.ts';
import { exportPage, visibleText, waitUntilReady } from '../support/page/export-page.ts';
import { assistantEntry, assistantMessage, entry, userEntry } from '../support/sessions/stored-session.ts';

const { open } = useBrowser();

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const message = (id: string, parentId: string | null, fields: object) =>
  entry('message', id, parentId, { message: fields });
const call = (name: string, args: object) => ({ type: 'toolCall', id: `call-${name}`, name, arguments: args });
const result = (id: string, parentId: string, name: string, text: string, more: object = {}) =>
  message(id, parentId, {
    role: 'toolResult',
    toolCallId: `call-${name}`,
    toolName: name,
    content: [{ type: 'text', text }],
    isError: false,
    timestamp: 3,
    ...more,
  });

const output = Array.from({ length: 100 }, (_, line) => `line ${line}`).join('\n');
const thought = { type: 'thinking', thinking: 'The needle must be in the haystack.' };
const calls = [call('bash', { command: 'make all' }), call('edit', { path: 'a.ts' }), call('paint', { colour: 'red' })];

/** A session with every kind of entry that a page shows, and a second branch from its second entry. */
const session = [
  entry('session_info', 'name0000', null, { name: 'Mend the shop' }),
  entry('model_change', 'model000', 'name0000', { provider: 'acme', modelId: 'large' }),
  userEntry('first000', 'model000', 'Please *mend* the shop.'),
  message(
    'answer00',
    'first000',
    assistantMessage({
      content: [thought, { type: 'text', text: 'On it:\n\n```ts\nlet a = 1;\n```' }, ...calls],
      stopReason: 'toolUse',
    }),
  ),
  result('bash0000', 'answer00', 'bash', `${output}\n\n\nCommand exited with code 2`, { isError: true }),
  result('edit0000', 'bash0000', 'edit', 'done', { details: { diff: '-1 old\n+1 new' } }),
  result('paint000', 'edit0000', 'paint', 'painted', {
    content: [
      { type: 'text', text: 'painted' },
      { type: 'image', data: png, mimeType: 'image/png' },
    ],
  }),
  entry('compaction', 'compact0', 'paint000', {
    summary: 'What **happened** before',
    firstKeptEntryId: 'first000',
    tokensBefore: 9000,
  }),
  message('shell000', 'compact0', {
    role: 'bashExecution',
    command: 'ls',
    output: 'shop.ts',
    exitCode: 0,
    cancelled: false,
    truncated: false,
    timestamp: 4,
  }),
  entry('custom_message', 'custom00', 'shell000', { customType: 'notes', content: 'A note for all', display: true }),
  entry('custom_message', 'custom01', 'custom00', { customType: 'notes', content: 'A note for none', display: false }),
  assistantEntry('failed00', 'custom01', '', {
    content: [],
    stopReason: 'error',
    errorMessage: 'The model is overloaded',
  }),
  entry('label', 'label000', 'failed00', { targetId: 'first000', label: 'begin here' }),
  userEntry('other000', 'first000', 'Or leave it as it is.'),
  assistantEntry('other001', 'other000', 'Then I leave it.'),
  userEntry('last0000', 'label000', 'Thank you.'),
];

it('[S41] the page shows the active branch: messages, thinking, tool calls and their results', async () => {
  const view = await open(await exportPage(session));
  const page = await waitUntilReady(view);

  const text = await visibleText(page.locator('main'));

  for (const part of [
    'Mend the shop',
    'Please mend the shop.',
    'On it:',
    'let a = 1;',
    'make all',
    'exit 2',
    'painted',
  ])
    expect(text).toContain(part);
  for (const part of ['A note for all', 'The model is overloaded', 'Thank you.', 'Model: acme/large', 'begin here'])
    expect(text).toContain(part);
  for (const part of ['A note for none', 'Or leave it', 'What happened before', 'line 10\n'])
    expect(text).not.toContain(part);
  expect(await page.title()).toBe('Mend the shop');
  expect(await visibleText(page.locator('.diff-line.added .diff-text'))).toBe('new');
  expect(
    await page.locator('.picture img').evaluate((image) => (image as { naturalWidth?: number }).naturalWidth),
  ).toBe(1);
  expect(view.complaints).toEqual([]);
});

it('[S41] thinking, summaries and long outputs unfold', async () => {
  const page = await waitUntilReady(await open(await exportPage(session)));

  await page.getByText('Thinking 7 words').click();
  await page.locator('main').getByText('Compacted').click();
  await page.getByRole('button', { name: 'Show all 100 lines' }).click();

  const text = await visibleText(page.locator('main'));
  expect(text).toContain('The needle must be in the haystack.');
  expect(text).toContain('What happened before');
  expect(text).toContain('line 10\n');
});

it('[S41] choosing an entry in the outline shows its branch', async () => {
  const page = await waitUntilReady(await open(await exportPage(session)));
  const outline = page.getByRole('navigation', { name: 'Outline' });

  await outline.getByText('Or leave it as it is.').click();
  await page.locator('main').getByText('Then I leave it.').waitFor();
  const otherBranch = await visibleText(page.locator('main'));
  await outline.getByText('Thank you.').click();
  await page.locator('main').getByText('Thank you.').waitFor();

  expect(otherBranch).toContain('Please mend the shop.');
  expect(otherBranch).not.toContain('On it:');
  expect(await visibleText(page.locator('main'))).not.toContain('Then I leave it.');
});

it('[S41] the outline can be filtered', async () => {
  const page = await waitUntilReady(await open(await exportPage(session)));
  const rows = page.getByRole('navigation', { name: 'Outline' }).getByRole('link');
  const shown = async (filter: string) => {
    await page.getByLabel('What the outline shows').selectOption(filter);
    return (await rows.allInnerTexts()).map((row) => row.replaceAll(/\s+/g, ' ').trim());
  };

  const everything = await shown('all');
  const questions = await shown('user-only');
  const conversation = await shown('default');
  const withoutTools = await shown('no-tools');

  expect(everything).toHaveLength(session.length);
  expect(questions.map((row) => row.replace(/^› /, ''))).toEqual([
    'begin here Please mend the shop.',
    'Thank you.',
    'Or leave it as it is.',
  ]);
  expect(conversation.filter((row) => !withoutTools.includes(row))).toHaveLength(4);
});

it('[S41] the search counts matches, steps forward and back, unfolds them and colours them', async () => {
  const page = await waitUntilReady(await open(await exportPage(session)));
  const count = page.locator('.count');
  const coloured = () => page.evaluate("[...(CSS.highlights.get('current') ?? [])].map(String)");

  await page.keyboard.press('/');
  await page.keyboard.type('NEEDLE');
  const found = await visibleText(count);
  await page.keyboard.press('Enter');
  const thoughts = await coloured();
  const isOpen = (await page.locator('details.thinking').getAttribute('open')) !== null;
  await page.getByLabel('Search the session').fill('shop');
  const steps: string[] = [];
  for (const key of ['Enter', 'Enter', 'Shift+Enter']) {
    await page.keyboard.press(key);
    steps.push(await visibleText(count));
  }
  await page.getByLabel('Search the session').fill('line 10');
  await page.getByRole('button', { name: 'Next hit' }).click();

  expect([found, thoughts, isOpen]).toEqual(['– of 1', ['needle', 'needle'], true]);
  expect(steps).toEqual(['1 of 3', '2 of 3', '1 of 3']);
  expect(await coloured()).toEqual(['line 10']);
});

it('[S41] an entry id in the address opens that entry on any branch', async () => {
  const file = await exportPage(session);

  const other = await waitUntilReady(await open(file, { hash: '#other001' }));
  const tool = await waitUntilReady(await open(file, { hash: '#paint000' }));
  const malformed = await waitUntilReady(await open(file, { hash: '#%E0%A4%A' }));

  expect(await visibleText(other.locator('.target'))).toContain('Then I leave it.');
  expect(await visibleText(tool.locator('.target'))).toContain('painted');
  expect(await visibleText(malformed.locator('main'))).toContain('Thank you.');
});

it('[S41] code can be copied and a picture enlarged', async () => {
  const page = await waitUntilReady(await open(await exportPage(session)));
  await page.evaluate('navigator.clipboard.writeText = async (text) => void (window.copied = text)');

  await page.locator('figure.code').getByRole('button', { name: 'Copy' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  await page.getByRole('button', { name: 'Enlarge the picture' }).click();
  const enlarged = await page.locator('dialog img').isVisible();
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });

  expect(await page.evaluate('copied')).toBe('let a = 1;');
  expect(enlarged).toBe(true);
});

it('[S41] printing unfolds everything and shows nothing but the session', async () => {
  const page = await waitUntilReady(await open(await exportPage(session)));

  await page.emulateMedia({ media: 'print' });
  await page.evaluate("dispatchEvent(new Event('beforeprint'))");

  const text = await visibleText(page.locator('body'));
  for (const part of ['The needle must be', 'What happened before', 'line 10\n', 'line 99'])
    expect(text).toContain(part);
  expect(await page.locator('.sidebar').isVisible()).toBe(false);
  expect(await page.locator('.toolbar').isVisible()).toBe(false);
});

it('[S41] on a phone a button opens the outline, and nothing is wider than the screen', async () => {
  const page = await waitUntilReady(await open(await exportPage(session), { width: 390, height: 844 }));

  const before = await page.locator('.sidebar').isVisible();
  await page.getByRole('button', { name: 'Outline and search' }).click();
  await page.getByRole('navigation', { name: 'Outline' }).getByText('Thank you.').click();
  await page.locator('.target').waitFor();

  expect(before).toBe(false);
  expect(await page.locator('.sidebar').isVisible()).toBe(false);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
});

it('[S41] the theme can be chosen', async () => {
  const page = await waitUntilReady(await open(await exportPage(session)));
  const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor');

  const light = await background();
  await page.getByRole('button', { name: 'Colours of the system' }).click();
  await page.getByRole('button', { name: 'Light colours' }).click();
  await page.getByRole('button', { name: 'Dark colours' }).waitFor();

  expect(await background()).not.toBe(light);
});

it('[S41] without JavaScript the page shows that it needs it', async () => {
  const { page } = await open(await exportPage(session), { javaScriptEnabled: false });

  expect(await visibleText(page.locator('body'))).toContain('JavaScript');
});

it('[S41] all of ten thousand entries can be reached, but are not rendered or listed at once', async () => {
  const entries: object[] = [];
  for (let at = 0; at < 10_000; at++) {
    const [id, parentId] = [`id${at}`, at === 0 ? null : `id${at - 1}`];
    entries.push(
      at % 2 === 0 ? userEntry(id, parentId, `question ${at}`) : assistantEntry(id, parentId, `answer ${at}`),
    );
  }
  const page = await waitUntilReady(await open(await exportPage(entries)));

  const listed = await page.locator('.rows li').count();
  await page.getByLabel('Search the session').fill('answer 9999');
  await page.keyboard.press('Enter');
  const [hit] = await page.locator('.target').allInnerTexts();
  await page.locator('article').nth(9999).waitFor({ state: 'attached' });

  expect(listed).toBeLessThan(100);
  expect(hit).toContain('answer 9999');
});

it.each([
  ['attached on the page', 'Check this, please\n\nsecret.txt\n```\nsecret text\n```'],
  ['given to the command line', '<file name="secret.txt">\nsecret text\n</file>\nCheck this, please'],
])('[V53] the title of an exported page has no text of a file that was %s', async (_way, prompt) => {
  const view = await open(await exportPage([userEntry('a', null, prompt)]));
  const page = await waitUntilReady(view);

  expect(await page.title()).toBe('Check this, please');
  expect(await visibleText(page.getByRole('heading', { level: 1 }))).toBe('Check this, please');
});
