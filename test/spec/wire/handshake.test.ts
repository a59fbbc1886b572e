import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { commandRows } from '../../../src/protocol/generated/command-rows.ts';
import { eventNames } from '../../../src/protocol/generated/event-names.ts';
import { version } from '../../../src/protocol/generated/version.ts';
import type { AssistantMessage, AssistantMessageEvent } from '../../../src/protocol/generated/vocabulary.ts';
import { applyStep } from '../../../src/wire/assistant-message.ts';
import { newGate } from '../../support/agent/test-agent.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { LOCAL_TRANSPORTS, verifies } from '../../support/verifies.ts';

const updatesIn = (records: readonly WireRecord[]) => records.filter(({ type }) => type === 'message_update');

const toolScript = [
  {
    steps: [
      { thinking: 'I look first. ', chunks: 3 },
      { text: 'Let me look.' },
      { toolCall: { name: 'bash', arguments: { command: 'echo found' }, id: 'call_1' }, chunks: 3 },
    ],
  },
  { text: 'There it is.' },
];

verifies(
  'I1 I2',
  'ready is the first record and carries the protocol version',
  async ({ open }) => {
    const { peer } = await open();

    await peer.ok({ type: 'get_state' });

    expect(peer.records[0]).toEqual({
      type: 'ready',
      version,
      protocolVersion: 1,
      supportedProtocolVersions: [1],
    });
    expect(peer.records.filter(({ type }) => type === 'ready')).toHaveLength(1);
  },
  LOCAL_TRANSPORTS,
);

verifies('I1 I3', 'commands written before ready are answered after it', async (fixture) => {
  const { peer } = await fixture.open({ script: [{ text: 'hello' }] });

  peer.send('{"id":1,"type":"get_state"}\nbroken\n{"id":2,"type":"prompt","message":"early"}\n');
  await peer.next('agent_settled');

  expect(peer.records.slice(0, fixture.greeting.length).map(({ type }) => type)).toEqual(fixture.greeting);
  expect(peer.records.filter(({ type }) => type === 'response')).toMatchObject([
    { id: 1, command: 'get_state', success: true },
    { command: 'parse', success: false },
    { id: 2, command: 'prompt', success: true },
  ]);
});

verifies('I5', 'without hello every update carries the whole message so far', async ({ open }) => {
  const { peer } = await open({ script: toolScript });

  const records = await peer.run('go');

  let message: unknown;
  for (const record of records) {
    if (record.type === 'message_start') message = record['message'];
    if (record.type !== 'message_update') continue;
    const { partial, message: whole, error, ...step } = record['assistantMessageEvent'] as Record<string, unknown>;
    message = whole ?? error ?? applyStep(message as AssistantMessage, step as AssistantMessageEvent);
    expect(record).toMatchObject({ message });
    expect(partial ?? whole ?? error).toEqual(message);
  }
  expect(peer.records.map(({ type }) => type)).not.toContain('entry_appended');
  expect(peer.records.map(({ type }) => type)).not.toContain('heartbeat');
});

verifies('I6', 'hello returns server, capabilities and limits', async ({ open, transport }) => {
  const { peer } = await open();

  const plain = await peer.ok({ type: 'hello' });
  const negotiated = await peer.ok({
    type: 'hello',
    client: { name: 'a test', version: '1' },
    stream: 'delta',
    legacyNames: false,
    builtins: true,
    entries: true,
    ui: ['select', 'notify'],
    heartbeatMs: 60_000,
  });
  const again = await peer.ok({ type: 'hello', stream: 'cumulative', heartbeatMs: 0 });

  const same = {
    supported: expect.anything(),
    protocol: 1,
    server: { name: 'tau', version },
    limits: { maxLineBytes: (transport === 'websocket' ? 32 : 64) * 1024 * 1024, maxQueuedMessages: 1000 },
  };
  expect(plain).toEqual({
    ...same,
    capabilities: {
      stream: 'cumulative',
      toolOutput: 'cumulative',
      legacyNames: true,
      builtins: false,
      entries: false,
      ids: false,
      heartbeatMs: 0,
    },
  });
  const full = {
    toolOutput: 'cumulative',
    legacyNames: false,
    builtins: true,
    entries: true,
    ids: false,
    ui: ['select', 'notify'],
  };
  expect(negotiated).toEqual({ ...same, capabilities: { ...full, stream: 'delta', heartbeatMs: 60_000 } });
  expect(again).toEqual({ ...same, capabilities: { ...full, stream: 'cumulative', heartbeatMs: 0 } });
});

verifies('I24', 'hello lists what the client can use', async ({ open, transport }) => {
  const { peer } = await open();

  const { supported } = (await peer.ok({ type: 'hello' })) as { supported: Record<string, string[]> };

  const { $defs } = JSON.parse(readFileSync(new URL('../../../docs/schema.json', import.meta.url), 'utf8'));
  expect(supported['commands']).toEqual(Object.keys(commandRows));
  expect(supported['events']).toEqual(eventNames);
  expect(supported['features']).toEqual(
    $defs.Feature.enum.filter((name: string) => name !== 'resume' || transport === 'websocket'),
  );
});

verifies('I6', 'a rejected hello changes nothing', async ({ open }) => {
  const { peer } = await open();

  const rejection = await peer.refused({ type: 'hello', stream: 'delta', entries: 'yes' });

  expect(rejection).toMatchObject({
    code: 'invalid_params',
    error: 'Invalid parameters: entries must be true or false',
  });
  expect(await peer.ok({ type: 'hello' })).toMatchObject({ capabilities: { stream: 'cumulative', entries: false } });
});

verifies('I7', 'hello changes the stream form at once, even during a model response', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    script: [{ steps: [{ text: 'before ' }, { await: gate.path }, { text: 'after', chunks: 5 }] }],
  });
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.next(({ assistantMessageEvent: step }) => (step as { type: string } | undefined)?.type === 'text_delta');

  await peer.ok({ type: 'hello', stream: 'delta' });
  gate.open();
  await peer.next('agent_settled');

  const hello = peer.records.findIndex(({ command }) => command === 'hello');
  const before = updatesIn(peer.records.slice(0, hello));
  const after = updatesIn(peer.records.slice(hello));
  expect(before.every((update) => update['message'] !== undefined)).toBe(true);
  expect(after.every((update) => update['message'] === undefined)).toBe(true);
  const last = before.at(-1)?.['message'] as AssistantMessage;
  const whole = after.map((update) => update['assistantMessageEvent'] as AssistantMessageEvent).reduce(applyStep, last);
  expect(whole.content).toEqual([{ type: 'text', text: 'before after' }]);
});
