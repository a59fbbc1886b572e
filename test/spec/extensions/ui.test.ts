import { expect } from 'vitest';
import { allUiRequests, answerDialog, fixture, nextUiRequest } from '../../support/agent/extensions.ts';
import type { Peer, WireRecord } from '../../support/clients/peer.ts';
import { type AgentFixture, verifies } from '../../support/verifies.ts';

const args = ['-e', fixture('ui-probe')];

/** What a method of `ctx.ui` returns; `reply` answers the dialog that it opens. */
async function probed(peer: Peer, words: readonly unknown[], reply?: { method: string; with: object }) {
  const prompt = peer.ok({ type: 'prompt', message: `/probe ${JSON.stringify(words)}` });
  const request = reply && (await answerDialog(peer, reply.method, reply.with));
  await prompt;
  return { request, result: await lastProbe(peer, (entry) => entry['name'] === words[0]) };
}

/** What the extension noted down last that fits. */
async function lastProbe(peer: Peer, match: (data: Record<string, unknown>) => boolean) {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes back
  const entryOf = (record: WireRecord): any => (record.type === 'entry_appended' ? record['entry'] : undefined);
  const record = await peer.next((candidate) => {
    const entry = entryOf(candidate);
    return entry?.customType === 'probe' && match(entry.data);
  });
  const { data } = entryOf(record);
  return data.result ?? data;
}

async function withProbe({ open }: AgentFixture, options: object = {}) {
  const agent = await open({ args, ...options });
  await agent.peer.ok({ type: 'hello', entries: true });
  return agent;
}

const shapes: Record<string, { words: unknown[]; shape: object }> = {
  select: { words: ['Allow?', ['Allow', 'Block']], shape: { title: 'Allow?', options: ['Allow', 'Block'] } },
  confirm: { words: ['Clear?', 'All will be lost'], shape: { title: 'Clear?', message: 'All will be lost' } },
  input: { words: ['Value?', 'type something'], shape: { title: 'Value?', placeholder: 'type something' } },
  editor: { words: ['Edit', 'one\ntwo'], shape: { title: 'Edit', prefill: 'one\ntwo' } },
};

/** A dialog is shown whole, and this reply to it gives the extension this. */
const asks = (method: string, reply: object, expected: unknown) => async (bench: AgentFixture) => {
  const { peer } = await withProbe(bench);
  const { words = [], shape } = shapes[method] ?? {};

  const { request, result } = await probed(peer, [method, ...words], { method, with: reply });

  expect(request).toEqual({ type: 'extension_ui_request', id: expect.any(String), method, ...shape });
  expect(result).toEqual(expected);
};

verifies('X1 X2 X3 X22 X23 X40', 'select gives what was chosen', asks('select', { value: 'Allow' }, 'Allow'));
verifies('X1 X2 X3 X24 X25 X40', 'confirm gives a yes', asks('confirm', { confirmed: true }, true));
verifies('X1 X2 X3 X24 X25 X40', 'confirm gives a no', asks('confirm', { confirmed: false }, false));
verifies('X1 X2 X3 X26 X27 X40', 'input gives what was typed', asks('input', { value: 'typed' }, 'typed'));
verifies('X1 X2 X3 X28 X29 X40', 'editor gives what it held', asks('editor', { value: 'three' }, 'three'));

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
    const [request] = allUiRequests(peer, method);
    const over = await peer.find('extension_ui_resolved');
    peer.send({ type: 'extension_ui_response', id: request?.['id'], value: 'late', confirmed: true });

    expect(request).toMatchObject({ timeout: 1 });
    expect(over).toEqual({ type: 'extension_ui_resolved', id: request?.['id'], by: 'timeout' });
    expect(result).toBe(method === 'confirm' ? false : 'undefined');
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ pendingUi: [] });
  });
}

/** This call is shown so, and waits for nothing. */
const shows = (words: unknown[], method: string, fields: object) => async (bench: AgentFixture) => {
  const { peer } = await withProbe(bench);

  const { result } = await probed(peer, words);

  expect(allUiRequests(peer, method)).toEqual([{ type: 'extension_ui_request', id: expect.any(String), method, ...fields }]);
  expect(result).toBe('undefined');
};

verifies(
  'X4 X5 X30',
  'notify is shown with its kind',
  shows(['notify', 'blocked', 'warning'], 'notify', { message: 'blocked', notifyType: 'warning' }),
);
verifies('X30', 'notify without a kind has none', shows(['notify', 'plain'], 'notify', { message: 'plain' }));
verifies(
  'X4 X31',
  'setStatus is shown',
  shows(['setStatus', 'me', 'busy'], 'setStatus', { statusKey: 'me', statusText: 'busy' }),
);
verifies('X32', 'setStatus without a text clears', shows(['setStatus', 'me'], 'setStatus', { statusKey: 'me' }));
verifies(
  'X4 X33',
  'setWidget is shown line by line',
  shows(['setWidget', 'me', ['a', 'b']], 'setWidget', { widgetKey: 'me', widgetLines: ['a', 'b'] }),
);
verifies(
  'X35',
  'setWidget says where',
  shows(['setWidget', 'me', ['a'], { placement: 'belowEditor' }], 'setWidget', {
    widgetKey: 'me',
    widgetLines: ['a'],
    widgetPlacement: 'belowEditor',
  }),
);
verifies('X34', 'setWidget without lines clears', shows(['setWidget', 'me'], 'setWidget', { widgetKey: 'me' }));
verifies('X4 X39', 'setEditorText is shown', shows(['setEditorText', 'words'], 'set_editor_text', { text: 'words' }));
verifies('X18', 'pasteToEditor is the same', shows(['pasteToEditor', 'pasted'], 'set_editor_text', { text: 'pasted' }));

verifies('X36', 'a widget that draws itself is not sent', async (bench) => {
  const { peer } = await withProbe(bench);

  await probed(peer, ['setWidget', 'me', '<factory>']);

  expect(allUiRequests(peer, 'setWidget')).toEqual([]);
});

verifies('X37 X38', 'titles are sent only to those who want them', async (bench) => {
  const { peer } = await withProbe(bench);
  await probed(peer, ['setTitle', 'one']);
  expect(allUiRequests(peer, 'setTitle')).toEqual([]);

  await peer.ok({ type: 'hello', ui: ['setTitle', 'notify'] });
  await probed(peer, ['setTitle', 'two']);

  expect(allUiRequests(peer, 'setTitle')).toMatchObject([{ title: 'two' }]);
});

for (const value of ['1', 'true', 'YES', ' on ']) {
  verifies('X38', `PI_RPC_EMIT_TITLE=${JSON.stringify(value)} asks for titles`, async (bench) => {
    const { peer } = await withProbe(bench, { env: { PI_RPC_EMIT_TITLE: value } });

    await probed(peer, ['setTitle', 'one']);

    expect(allUiRequests(peer, 'setTitle')).toMatchObject([{ title: 'one' }]);
  });
}

/** These calls, which need a terminal, return this and show nothing. */
const returns =
  (expected: unknown, ...calls: unknown[][]) =>
  async (bench: AgentFixture) => {
    const { peer } = await withProbe(bench);

    for (const words of calls) expect((await probed(peer, words)).result, String(words[0])).toEqual(expected);

    const noise = peer.records.filter(({ type }) => type === 'extension_ui_request' || type === 'extension_error');
    expect(noise).toEqual([]);
  };

verifies('X13', 'custom returns undefined', returns('undefined', ['custom', '<factory>']));
verifies(
  'X14',
  'what decorates a terminal does nothing',
  returns(
    'undefined',
    ['setWorkingMessage', 'x'],
    ['setFooter', '<factory>'],
    ['setHeader', '<factory>'],
    ['setEditorComponent', '<factory>'],
    ['setToolsExpanded', true],
  ),
);
verifies(
  'X15',
  'nor does what pi added later',
  returns(
    'undefined',
    ['setWorkingIndicator', {}],
    ['setWorkingVisible', true],
    ['setHiddenThinkingLabel', 'x'],
    ['addAutocompleteProvider', '<factory>'],
  ),
);
verifies('X16', 'getEditorText returns an empty text', returns('', ['getEditorText']));
verifies('X17', 'getToolsExpanded returns false', returns(false, ['getToolsExpanded']));
verifies('X19', 'getAllThemes returns an empty list', returns([], ['getAllThemes']));
verifies('X20', 'getTheme returns undefined', returns('undefined', ['getTheme', 'dark']));
verifies(
  'X21',
  'setTheme refuses',
  returns({ success: false, error: 'Theme switching not supported in RPC mode' }, ['setTheme', 'dark']),
);

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
  expect(allUiRequests(peer, 'confirm')).toEqual([]);
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
  const { id } = await nextUiRequest(peer, 'input');
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ pendingUi: [{ id, method: 'input', title: '?' }] });
  for (const value of ['first', 'second']) peer.send({ type: 'extension_ui_response', id, value });
  await prompt;

  expect(await lastProbe(peer, ({ name }) => name === 'input')).toBe('first');
});
