import { expect } from 'vitest';
import { allShown, answer, fixture, shown } from '../support/extensions.ts';
import type { Peer, Record_ } from '../support/peer.ts';
import { type Bench, verifies } from '../support/verifies.ts';

const args = ['-e', fixture('ui-probe')];

/** What a method of `ctx.ui` returns; `reply` answers the dialog that it opens. */
async function probed(peer: Peer, words: readonly unknown[], reply?: { method: string; with: object }) {
  const prompt = peer.ok({ type: 'prompt', message: `/probe ${JSON.stringify(words)}` });
  const request = reply && (await answer(peer, reply.method, reply.with));
  await prompt;
  return { request, result: await lastProbe(peer, (entry) => entry['name'] === words[0]) };
}

/** What the extension noted down last that fits. */
async function lastProbe(peer: Peer, match: (data: Record<string, unknown>) => boolean) {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes back
  const entryOf = (record: Record_): any => (record.type === 'entry_appended' ? record['entry'] : undefined);
  const record = await peer.next((candidate) => {
    const entry = entryOf(candidate);
    return entry?.customType === 'probe' && match(entry.data);
  });
  const { data } = entryOf(record);
  return data.result ?? data;
}

async function withProbe({ open }: Bench, options: object = {}) {
  const agent = await open({ args, ...options });
  await agent.peer.ok({ type: 'hello', entries: true });
  return agent;
}

const dialogs: [string, string, unknown[], object, unknown][] = [
  ['X22 X23', 'select', ['Allow?', ['Allow', 'Block']], { value: 'Allow' }, 'Allow'],
  ['X24 X25', 'confirm', ['Clear?', 'All will be lost'], { confirmed: true }, true],
  ['X24 X25', 'confirm', ['Clear?', 'All will be lost'], { confirmed: false }, false],
  ['X26 X27', 'input', ['Value?', 'type something'], { value: 'typed' }, 'typed'],
  ['X28 X29', 'editor', ['Edit', 'one\ntwo'], { value: 'three' }, 'three'],
];
const shapes: Record<string, object> = {
  select: { title: 'Allow?', options: ['Allow', 'Block'] },
  confirm: { title: 'Clear?', message: 'All will be lost' },
  input: { title: 'Value?', placeholder: 'type something' },
  editor: { title: 'Edit', prefill: 'one\ntwo' },
};
for (const [rules, method, words, reply, expected] of dialogs) {
  verifies(`X1 X2 X3 X40 ${rules}`, `${method} answered with ${JSON.stringify(reply)}`, async (bench) => {
    const { peer } = await withProbe(bench);

    const { request, result } = await probed(peer, [method, ...words], { method, with: reply });

    expect(request).toEqual({ type: 'extension_ui_request', id: expect.any(String), method, ...shapes[method] });
    expect(result).toEqual(expected);
  });
}

for (const [method, words, expected] of [
  ['select', ['?', ['a']], 'undefined'],
  ['confirm', ['?', '!'], false],
  ['input', ['?'], 'undefined'],
  ['editor', ['?'], 'undefined'],
] as const) {
  verifies('X41', `${method} called off, or answered in the wrong shape, gives the default`, async (bench) => {
    const { peer } = await withProbe(bench);

    const cancelled = await probed(peer, [method, ...words], { method, with: { cancelled: true } });
    const wrong = await probed(peer, [method, ...words], {
      method,
      with: method === 'confirm' ? { value: 'yes' } : { confirmed: true },
    });

    expect([cancelled.result, wrong.result]).toEqual([expected, expected]);
  });
}

for (const [method, words] of [
  ['select', ['?', ['a'], { timeout: 1 }]],
  ['confirm', ['?', '!', { timeout: 1 }]],
  ['input', ['?', '', { timeout: 1 }]],
] as const) {
  verifies('X6', `${method} takes its default when its time is up, and a late answer means nothing`, async (bench) => {
    const { peer } = await withProbe(bench);

    const { result } = await probed(peer, [method, ...words]);
    const [request] = allShown(peer, method);
    const over = await peer.find('extension_ui_resolved');
    peer.send({ type: 'extension_ui_response', id: request?.['id'], value: 'late', confirmed: true });

    expect(request).toMatchObject({ timeout: 1 });
    expect(over).toEqual({ type: 'extension_ui_resolved', id: request?.['id'], by: 'timeout' });
    expect(result).toBe(method === 'confirm' ? false : 'undefined');
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ pendingUi: [] });
  });
}

const notices: [string, unknown[], string, object][] = [
  ['X4 X5 X30', ['notify', 'blocked', 'warning'], 'notify', { message: 'blocked', notifyType: 'warning' }],
  ['X30', ['notify', 'plain'], 'notify', { message: 'plain' }],
  ['X31', ['setStatus', 'me', 'busy'], 'setStatus', { statusKey: 'me', statusText: 'busy' }],
  ['X32', ['setStatus', 'me'], 'setStatus', { statusKey: 'me' }],
  ['X33', ['setWidget', 'me', ['a', 'b']], 'setWidget', { widgetKey: 'me', widgetLines: ['a', 'b'] }],
  [
    'X35',
    ['setWidget', 'me', ['a'], { placement: 'belowEditor' }],
    'setWidget',
    { widgetKey: 'me', widgetLines: ['a'], widgetPlacement: 'belowEditor' },
  ],
  ['X34', ['setWidget', 'me'], 'setWidget', { widgetKey: 'me' }],
  ['X39', ['setEditorText', 'words'], 'set_editor_text', { text: 'words' }],
  ['X18', ['pasteToEditor', 'pasted'], 'set_editor_text', { text: 'pasted' }],
];
for (const [rules, words, method, fields] of notices) {
  verifies(
    rules,
    `${words.map((word) => JSON.stringify(word)).join(' ')} is shown and waits for nothing`,
    async (bench) => {
      const { peer } = await withProbe(bench);

      const { result } = await probed(peer, words);

      expect(allShown(peer, method)).toEqual([
        { type: 'extension_ui_request', id: expect.any(String), method, ...fields },
      ]);
      expect(result).toBe('undefined');
    },
  );
}

verifies('X36', 'a widget that draws itself is not sent', async (bench) => {
  const { peer } = await withProbe(bench);

  await probed(peer, ['setWidget', 'me', '<factory>']);

  expect(allShown(peer, 'setWidget')).toEqual([]);
});

verifies('X37 X38', 'titles are sent only to those who want them', async (bench) => {
  const { peer } = await withProbe(bench);
  await probed(peer, ['setTitle', 'one']);
  expect(allShown(peer, 'setTitle')).toEqual([]);

  await peer.ok({ type: 'hello', ui: ['setTitle', 'notify'] });
  await probed(peer, ['setTitle', 'two']);

  expect(allShown(peer, 'setTitle')).toMatchObject([{ title: 'two' }]);
});

for (const value of ['1', 'true', 'YES', ' on ']) {
  verifies('X38', `PI_RPC_EMIT_TITLE=${JSON.stringify(value)} asks for titles`, async (bench) => {
    const { peer } = await withProbe(bench, { env: { PI_RPC_EMIT_TITLE: value } });

    await probed(peer, ['setTitle', 'one']);

    expect(allShown(peer, 'setTitle')).toMatchObject([{ title: 'one' }]);
  });
}

const onlyInTerminals: [string, unknown[], unknown][] = [
  ['X13', ['custom', '<factory>'], 'undefined'],
  ['X14', ['setWorkingMessage', 'x'], 'undefined'],
  ['X14', ['setFooter', '<factory>'], 'undefined'],
  ['X14', ['setHeader', '<factory>'], 'undefined'],
  ['X14', ['setEditorComponent', '<factory>'], 'undefined'],
  ['X14', ['setToolsExpanded', true], 'undefined'],
  ['X15', ['setWorkingIndicator', {}], 'undefined'],
  ['X15', ['setWorkingVisible', true], 'undefined'],
  ['X15', ['setHiddenThinkingLabel', 'x'], 'undefined'],
  ['X15', ['addAutocompleteProvider', '<factory>'], 'undefined'],
  ['X16', ['getEditorText'], ''],
  ['X17', ['getToolsExpanded'], false],
  ['X19', ['getAllThemes'], []],
  ['X20', ['getTheme', 'dark'], 'undefined'],
  ['X21', ['setTheme', 'dark'], { success: false, error: 'Theme switching not supported in RPC mode' }],
];
for (const [rules, words, expected] of onlyInTerminals) {
  verifies(rules, `${words[0]} has no terminal and returns ${JSON.stringify(expected)}`, async (bench) => {
    const { peer } = await withProbe(bench);

    const { result } = await probed(peer, words);

    expect(result).toEqual(expected);
    expect(peer.records.filter(({ type }) => type === 'extension_ui_request' || type === 'extension_error')).toEqual(
      [],
    );
  });
}

verifies('X11 X12', 'ctx says how it is driven', async (bench) => {
  const { peer, home } = await withProbe(bench);

  await peer.ok({ type: 'prompt', message: '/about' });

  expect(await lastProbe(peer, ({ mode }) => mode !== undefined)).toEqual({ mode: 'rpc', hasUI: true, cwd: home.cwd });
});

verifies('X10', 'a client that shows nothing: every dialog takes its default at once', async (bench) => {
  const { peer } = await withProbe(bench);
  await peer.ok({ type: 'hello', ui: [] });

  const { result } = await probed(peer, ['confirm', 'Sure?', 'Really?']);
  await peer.ok({ type: 'prompt', message: '/about' });

  expect(result).toBe(false);
  expect(await lastProbe(peer, ({ mode }) => mode !== undefined)).toMatchObject({ hasUI: false });
  expect(allShown(peer, 'confirm')).toEqual([]);
});

verifies('X42', 'answers to dialogs that are not there mean nothing', async (bench) => {
  const { peer } = await withProbe(bench);
  const nonsense = [
    { id: 'nobody', value: 'x' },
    { id: 'nobody', confirmed: true },
    { value: 'x' },
    { id: 7 },
    { id: 'nobody', value: 7 },
    { id: null, cancelled: 'yes' },
  ];
  for (const fields of nonsense) peer.send({ type: 'extension_ui_response', ...fields });

  await peer.ok({ type: 'get_state' });

  // The answers to hello and get_state, and none else.
  expect(peer.records.filter(({ type }) => type === 'response')).toHaveLength(2);
});

verifies('X3', 'the first answer counts', async (bench) => {
  const { peer } = await withProbe(bench);
  const prompt = peer.ok({ type: 'prompt', message: '/probe ["input","?"]' });
  const { id } = await shown(peer, 'input');
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ pendingUi: [{ id, method: 'input', title: '?' }] });
  for (const value of ['first', 'second']) peer.send({ type: 'extension_ui_response', id, value });
  await prompt;

  expect(await lastProbe(peer, ({ name }) => name === 'input')).toBe('first');
});
