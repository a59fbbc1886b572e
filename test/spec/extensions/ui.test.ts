import { expect } from 'vitest';
import { allUiRequests, answerDialog, fixture, nextUiRequest } from '../../support/agent/extensions.ts';
import type { Peer, WireRecord } from '../../support/clients/peer.ts';
import { type AgentFixture, verifies } from '../../support/verifies.ts';

const args = ['-e', fixture('ui-probe')];

/** Calls a method of `ctx.ui`, answers its dialog with `reply` and returns the result. */
async function callUi(peer: Peer, callArgs: readonly unknown[], reply?: { method: string; with: object }) {
  const prompt = peer.ok({ type: 'prompt', message: `/probe ${JSON.stringify(callArgs)}` });
  const request = reply && (await answerDialog(peer, reply.method, reply.with));
  await prompt;
  return { request, result: await nextProbe(peer, (entry) => entry['name'] === callArgs[0]) };
}

/** Waits for the next matching probe entry of the extension. */
async function nextProbe(peer: Peer, match: (data: Record<string, unknown>) => boolean) {
  // biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary data
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

const shapes: Record<string, { callArgs: unknown[]; shape: object }> = {
  select: { callArgs: ['Allow?', ['Allow', 'Block']], shape: { title: 'Allow?', options: ['Allow', 'Block'] } },
  confirm: { callArgs: ['Clear?', 'All will be lost'], shape: { title: 'Clear?', message: 'All will be lost' } },
  input: { callArgs: ['Value?', 'type something'], shape: { title: 'Value?', placeholder: 'type something' } },
  editor: { callArgs: ['Edit', 'one\ntwo'], shape: { title: 'Edit', prefill: 'one\ntwo' } },
};

/** Checks the request of a dialog, and the result that this reply gives the extension. */
const checksDialog = (method: string, reply: object, expected: unknown) => async (agentFixture: AgentFixture) => {
  const { peer } = await withProbe(agentFixture);
  const { callArgs = [], shape } = shapes[method] ?? {};

  const { request, result } = await callUi(peer, [method, ...callArgs], { method, with: reply });

  expect(request).toEqual({ type: 'extension_ui_request', id: expect.any(String), method, ...shape });
  expect(result).toEqual(expected);
};

verifies(
  'X1 X2 X3 X22 X23 X40',
  'select returns the chosen option',
  checksDialog('select', { value: 'Allow' }, 'Allow'),
);
verifies('X1 X2 X3 X24 X25 X40', 'confirm returns true for a yes', checksDialog('confirm', { confirmed: true }, true));
verifies(
  'X1 X2 X3 X24 X25 X40',
  'confirm returns false for a no',
  checksDialog('confirm', { confirmed: false }, false),
);
verifies('X1 X2 X3 X26 X27 X40', 'input returns the typed text', checksDialog('input', { value: 'typed' }, 'typed'));
verifies('X1 X2 X3 X28 X29 X40', 'editor returns the edited text', checksDialog('editor', { value: 'three' }, 'three'));

for (const [method, callArgs, expected] of [
  ['select', ['?', ['a']], 'undefined'],
  ['confirm', ['?', '!'], false],
  ['input', ['?'], 'undefined'],
  ['editor', ['?'], 'undefined'],
] as const) {
  verifies('X41', `a cancelled or malformed response to ${method} returns the default`, async (agentFixture) => {
    const { peer } = await withProbe(agentFixture);

    const cancelled = await callUi(peer, [method, ...callArgs], { method, with: { cancelled: true } });
    const wrong = await callUi(peer, [method, ...callArgs], {
      method,
      with: method === 'confirm' ? { value: 'yes' } : { confirmed: true },
    });

    expect([cancelled.result, wrong.result]).toEqual([expected, expected]);
  });
}

for (const [method, callArgs] of [
  ['select', ['?', ['a'], { timeout: 1 }]],
  ['confirm', ['?', '!', { timeout: 1 }]],
  ['input', ['?', '', { timeout: 1 }]],
] as const) {
  verifies(
    'X6',
    `${method} returns its default after the timeout and ignores a late response`,
    async (agentFixture) => {
      const { peer } = await withProbe(agentFixture);

      const { result } = await callUi(peer, [method, ...callArgs]);
      const [request] = allUiRequests(peer, method);
      const resolution = await peer.find('extension_ui_resolved');
      peer.send({ type: 'extension_ui_response', id: request?.['id'], value: 'late', confirmed: true });

      expect(request).toMatchObject({ timeout: 1 });
      expect(resolution).toEqual({ type: 'extension_ui_resolved', id: request?.['id'], by: 'timeout' });
      expect(result).toBe(method === 'confirm' ? false : 'undefined');
      expect(await peer.ok({ type: 'get_state' })).toMatchObject({ pendingUi: [] });
    },
  );
}

/** Checks that this call sends one request and returns at once. */
const checksRequest = (callArgs: unknown[], method: string, fields: object) => async (agentFixture: AgentFixture) => {
  const { peer } = await withProbe(agentFixture);

  const { result } = await callUi(peer, callArgs);

  expect(allUiRequests(peer, method)).toEqual([
    { type: 'extension_ui_request', id: expect.any(String), method, ...fields },
  ]);
  expect(result).toBe('undefined');
};

verifies(
  'X4 X5 X30',
  'notify sends its kind',
  checksRequest(['notify', 'blocked', 'warning'], 'notify', { message: 'blocked', notifyType: 'warning' }),
);
verifies('X30', 'notify without a kind sends none', checksRequest(['notify', 'plain'], 'notify', { message: 'plain' }));
verifies(
  'X4 X31',
  'setStatus sends key and text',
  checksRequest(['setStatus', 'me', 'busy'], 'setStatus', { statusKey: 'me', statusText: 'busy' }),
);
verifies(
  'X32',
  'setStatus without a text clears the status',
  checksRequest(['setStatus', 'me'], 'setStatus', { statusKey: 'me' }),
);
verifies(
  'X4 X33',
  'setWidget sends its lines',
  checksRequest(['setWidget', 'me', ['a', 'b']], 'setWidget', { widgetKey: 'me', widgetLines: ['a', 'b'] }),
);
verifies(
  'X35',
  'setWidget sends its placement',
  checksRequest(['setWidget', 'me', ['a'], { placement: 'belowEditor' }], 'setWidget', {
    widgetKey: 'me',
    widgetLines: ['a'],
    widgetPlacement: 'belowEditor',
  }),
);
verifies(
  'X34',
  'setWidget without lines clears the widget',
  checksRequest(['setWidget', 'me'], 'setWidget', { widgetKey: 'me' }),
);
verifies(
  'X4 X39',
  'setEditorText sends its text',
  checksRequest(['setEditorText', 'words'], 'set_editor_text', { text: 'words' }),
);
verifies(
  'X18',
  'pasteToEditor sends the same request as setEditorText',
  checksRequest(['pasteToEditor', 'pasted'], 'set_editor_text', { text: 'pasted' }),
);

verifies('X36', 'a widget that is a component is not sent', async (agentFixture) => {
  const { peer } = await withProbe(agentFixture);

  await callUi(peer, ['setWidget', 'me', '<factory>']);

  expect(allUiRequests(peer, 'setWidget')).toEqual([]);
});

verifies('X37 X38', 'setTitle is sent unless the client reports other methods', async (agentFixture) => {
  const { peer } = await withProbe(agentFixture);
  await callUi(peer, ['setTitle', 'one']);
  await peer.ok({ type: 'hello', ui: ['notify'] });
  await callUi(peer, ['setTitle', 'two']);
  await peer.ok({ type: 'hello', ui: ['setTitle', 'notify'] });
  await callUi(peer, ['setTitle', 'three']);

  expect(allUiRequests(peer, 'setTitle').map(({ title }) => title)).toEqual(['one', 'three']);
});

for (const value of ['0', 'false', 'NO', ' off ']) {
  verifies('X38', `PI_RPC_EMIT_TITLE=${JSON.stringify(value)} suppresses setTitle`, async (agentFixture) => {
    const { peer } = await withProbe(agentFixture, { env: { PI_RPC_EMIT_TITLE: value } });
    await callUi(peer, ['setTitle', 'one']);
    await peer.ok({ type: 'hello', ui: ['setTitle', 'notify'] });
    await callUi(peer, ['setTitle', 'two']);

    expect(allUiRequests(peer, 'setTitle').map(({ title }) => title)).toEqual(['two']);
  });
}

/** Checks that these terminal calls return `expected` and send nothing. */
const checksReturn =
  (expected: unknown, ...calls: unknown[][]) =>
  async (agentFixture: AgentFixture) => {
    const { peer } = await withProbe(agentFixture);

    for (const callArgs of calls) expect((await callUi(peer, callArgs)).result, String(callArgs[0])).toEqual(expected);

    const sentRecords = peer.records.filter(
      ({ type }) => type === 'extension_ui_request' || type === 'extension_error',
    );
    expect(sentRecords).toEqual([]);
  };

verifies('X13', 'custom returns undefined', checksReturn('undefined', ['custom', '<factory>']));
verifies(
  'X14',
  'calls that decorate a terminal do nothing',
  checksReturn(
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
  'terminal calls that pi added later do nothing',
  checksReturn(
    'undefined',
    ['setWorkingIndicator', {}],
    ['setWorkingVisible', true],
    ['setHiddenThinkingLabel', 'x'],
    ['addAutocompleteProvider', '<factory>'],
  ),
);
verifies('X16', 'getEditorText returns an empty text', checksReturn('', ['getEditorText']));
verifies('X17', 'getToolsExpanded returns false', checksReturn(false, ['getToolsExpanded']));
verifies('X19', 'getAllThemes returns an empty list', checksReturn([], ['getAllThemes']));
verifies('X20', 'getTheme returns undefined', checksReturn('undefined', ['getTheme', 'dark']));
verifies(
  'X21',
  'setTheme returns an error',
  checksReturn({ success: false, error: 'Theme switching not supported in RPC mode' }, ['setTheme', 'dark']),
);

verifies('X11 X12', 'ctx has the mode, hasUI and cwd', async (agentFixture) => {
  const { peer, home } = await withProbe(agentFixture);

  await peer.ok({ type: 'prompt', message: '/about' });

  expect(await nextProbe(peer, ({ mode }) => mode !== undefined)).toEqual({ mode: 'rpc', hasUI: true, cwd: home.cwd });
});

verifies('X10', 'for a client without UI every dialog takes its default at once', async (agentFixture) => {
  const { peer } = await withProbe(agentFixture);
  await peer.ok({ type: 'hello', ui: [] });

  const { result } = await callUi(peer, ['confirm', 'Sure?', 'Really?']);
  await peer.ok({ type: 'prompt', message: '/about' });

  expect(result).toBe(false);
  expect(await nextProbe(peer, ({ mode }) => mode !== undefined)).toMatchObject({ hasUI: false });
  expect(allUiRequests(peer, 'confirm')).toEqual([]);
});

verifies('X42', 'responses to unknown dialogs are ignored', async (agentFixture) => {
  const { peer } = await withProbe(agentFixture);
  const unknownResponses = [
    { id: 'nobody', value: 'x' },
    { id: 'nobody', confirmed: true },
    { value: 'x' },
    { id: 7 },
    { id: 'nobody', value: 7 },
    { id: null, cancelled: 'yes' },
  ];
  for (const fields of unknownResponses) peer.send({ type: 'extension_ui_response', ...fields });

  await peer.ok({ type: 'get_state' });

  // Only the responses to hello and get_state.
  expect(peer.records.filter(({ type }) => type === 'response')).toHaveLength(2);
});

verifies('X3', 'only the first response to a dialog counts', async (agentFixture) => {
  const { peer } = await withProbe(agentFixture);
  const prompt = peer.ok({ type: 'prompt', message: '/probe ["input","?"]' });
  const { id } = await nextUiRequest(peer, 'input');
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ pendingUi: [{ id, method: 'input', title: '?' }] });
  for (const value of ['first', 'second']) peer.send({ type: 'extension_ui_response', id, value });
  await prompt;

  expect(await nextProbe(peer, ({ name }) => name === 'input')).toBe('first');
});
