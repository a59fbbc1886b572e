import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newHome, type OpenOptions, openTestAgent, type Transport } from '../../support/agent/test-agent.ts';
import { outline, type Peer, type WireRecord } from '../../support/clients/peer.ts';
import { header } from '../../support/sessions/stored-session.ts';

const transports: readonly Transport[] = ['stdio', 'unix', 'memory', 'websocket'];

/** How a client is greeted, and what a server says beside an answer without an id. */
const BESIDE = new Set(['ready', 'server_connected', 'state_synced', 'server_error']);

const script = [
  {
    steps: [
      { thinking: 'Where is it?' },
      { text: 'I write and read it.' },
      { toolCall: { id: 'call_1', name: 'write', arguments: { path: 'note.txt', content: 'hello' } } },
      { usage: { input: 10, output: 5 } },
    ],
  },
  { steps: [{ toolCall: { id: 'call_2', name: 'read', arguments: { path: 'note.txt' } } }] },
  { text: 'It says hello.' },
  { error: { status: 400, message: 'Bad request' } },
];

const commands = [
  { id: 'a', type: 'hello', client: { name: 'test', version: '1' }, heartbeatMs: 0 },
  { id: 'b', type: 'get_state' },
  { id: 0, type: 'set_model', provider: 'tau', modelId: 'scripted-small' },
  { id: null, type: 'set_model', provider: 'tau', modelId: 'nope' },
  { id: ['c'], type: 'set_thinking_level', level: 'high' },
  { id: 'd', type: 'set_session_name', name: 'Ünïcode \u2028 name' },
  { id: 'e', type: 'no_such_command' },
  { id: 'f', type: 'prompt' },
  { id: 'g', type: 'get_entries', limit: 2 },
  { id: 'h', type: 'get_session_stats' },
];

it('[Z39] the same commands give the same records on every wire', async () => {
  const [first, ...others] = await onEach({}, async (peer) => {
    for (const command of commands) await peer.request(command);
    peer.send('{"id":"broken", \n42\n');
    await peer.request({ id: 'last', type: 'get_available_models' });
  });

  expect(first?.length).toBeGreaterThan(commands.length);
  for (const records of others) expect(records).toEqual(first);
});

it('[Z39] the same runs give the same records on every wire', async () => {
  const [first, ...others] = await onEach({ script }, async (peer) => {
    await peer.run({ message: 'write a note', clientMessageId: 'm1' });
    await peer.run('fail');
    await peer.ok({ type: 'get_messages' });
    await peer.ok({ type: 'get_tree' });
  });

  expect(first).toContainEqual(expect.objectContaining({ type: 'agent_settled', outcome: 'error' }));
  for (const records of others) expect(records).toEqual(first);
});

it('[Z39] an aborted run with queued messages is told alike on every wire', async () => {
  const held = [{ steps: [{ text: 'Well' }, { stall: true }] }];

  const [first, ...others] = await onEach({ script: held }, async (peer) => {
    await peer.ok({ type: 'prompt', message: 'go' });
    await peer.next('message_update');
    await peer.ok({ type: 'steer', message: 'left' });
    await peer.ok({ type: 'follow_up', message: 'right' });
    await peer.refused({ type: 'prompt', message: 'again' });
    await peer.ok({ type: 'abort', clearQueue: true });
  });

  expect(first).toContainEqual(expect.objectContaining({ type: 'queue_update', followUp: ['right'] }));
  for (const records of others) expect(records).toEqual(first);
});

/** The same talk on each wire, one after another. */
async function onEach(options: OpenOptions, talk: (peer: Peer) => Promise<void>) {
  const accounts: object[][] = [];
  for (const transport of transports) accounts.push(await told(transport, options, talk));
  return accounts;
}

/** What a client is told on this wire, without what differs from one run to the next. */
async function told(transport: Transport, options: OpenOptions, talk: (peer: Peer) => Promise<void>) {
  const home = newHome();
  const session = join(home.cwd, 'session.jsonl');
  writeFileSync(session, `${JSON.stringify(header(home.cwd))}\n`);
  const { peer } = await openTestAgent(transport, { ...options, home, args: ['--session', session] });
  await peer.greeted();
  await talk(peer);
  const records = peer.records.filter(({ type }) => !BESIDE.has(type));
  const updates = outline(records.filter(({ type }) => type === 'message_update'));
  const others = records.filter(({ type }) => type !== 'message_update');
  const known = new Map<string, string>();
  const text = JSON.stringify(others)
    .replaceAll(home.root, 'HOME')
    .replace(/"[\dT:.-]+Z"/g, '"TIME"')
    .replace(/"timestamp":\d+/g, '"timestamp":0')
    // A server takes shorter ones.
    .replace(/"maxLineBytes":\d+/, '"maxLineBytes":0')
    .replace(/\b[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\b|"[\da-f]{8}"/g, (id) => numbered(known, id));
  return [...(JSON.parse(text) as WireRecord[]), ...updates.map((type) => ({ type }))];
}

/** Ids differ from run to run; which of them are the same does not. */
function numbered(known: Map<string, string>, id: string): string {
  const bare = id.replaceAll('"', '');
  if (!known.has(bare)) known.set(bare, `ID${known.size}`);
  return id.startsWith('"') ? `"${known.get(bare)}"` : (known.get(bare) ?? '');
}
