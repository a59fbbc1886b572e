import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newHome, type OpenOptions, openTestAgent, type Transport } from '../../support/agent/test-agent.ts';
import { outline, type Peer, type WireRecord } from '../../support/clients/peer.ts';
import { header } from '../../support/sessions/stored-session.ts';

const transports: readonly Transport[] = ['stdio', 'unix', 'memory', 'websocket'];

// Greeting records, and the server record beside a response without an id.
const TRANSPORT_RECORDS = new Set(['ready', 'server_connected', 'state_synced', 'server_error']);

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

it('[Z39] the same commands give the same records on every transport', async () => {
  const [first, ...others] = await runOnEach({}, async (peer) => {
    for (const command of commands) await peer.request(command);
    peer.send('{"id":"broken", \n42\n');
    await peer.request({ id: 'last', type: 'get_available_models' });
  });

  expect(first?.length).toBeGreaterThan(commands.length);
  for (const records of others) expect(records).toEqual(first);
});

it('[Z39] the same runs give the same records on every transport', async () => {
  const [first, ...others] = await runOnEach({ script }, async (peer) => {
    await peer.run({ message: 'write a note', clientMessageId: 'm1' });
    await peer.run('fail');
    await peer.ok({ type: 'get_messages' });
    await peer.ok({ type: 'get_tree' });
  });

  expect(first).toContainEqual(expect.objectContaining({ type: 'agent_settled', outcome: 'error' }));
  for (const records of others) expect(records).toEqual(first);
});

it('[Z39] an aborted run with queued messages gives the same records on every transport', async () => {
  const held = [{ steps: [{ text: 'Well' }, { stall: true }] }];

  const [first, ...others] = await runOnEach({ script: held }, async (peer) => {
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

/** Runs the same exchange on each transport, one after another. */
async function runOnEach(options: OpenOptions, exchange: (peer: Peer) => Promise<void>) {
  const recordLists: object[][] = [];
  for (const transport of transports) recordLists.push(await recordsOn(transport, options, exchange));
  return recordLists;
}

/** The records of a client on this transport, without values that differ between runs. */
async function recordsOn(transport: Transport, options: OpenOptions, exchange: (peer: Peer) => Promise<void>) {
  const home = newHome();
  const session = join(home.cwd, 'session.jsonl');
  writeFileSync(session, `${JSON.stringify(header(home.cwd))}\n`);
  const { peer } = await openTestAgent(transport, { ...options, home, args: ['--session', session] });
  await peer.greeted();
  await exchange(peer);
  const records = peer.records.filter(({ type }) => !TRANSPORT_RECORDS.has(type));
  const updates = outline(records.filter(({ type }) => type === 'message_update'));
  const others = records.filter(({ type }) => type !== 'message_update');
  const numbers = new Map<string, string>();
  const text = JSON.stringify(others)
    .replaceAll(home.root, 'HOME')
    .replace(/"[\dT:.-]+Z"/g, '"TIME"')
    .replace(/"(timestamp|durationMs)":\d+/g, '"$1":0')
    // The limit of a server is lower, and only a server has journals.
    .replace(/"maxLineBytes":\d+/, '"maxLineBytes":0')
    .replace(',"resume"]', ']')
    .replace(/\b[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\b|"[\da-f]{8}"/g, (id) => numberId(numbers, id));
  return [...(JSON.parse(text) as WireRecord[]), ...updates.map((type) => ({ type }))];
}

/** Replaces each id by a stable number, so that equal ids stay equal. */
function numberId(numbers: Map<string, string>, id: string): string {
  const bare = id.replaceAll('"', '');
  if (!numbers.has(bare)) numbers.set(bare, `ID${numbers.size}`);
  return id.startsWith('"') ? `"${numbers.get(bare)}"` : (numbers.get(bare) ?? '');
}
