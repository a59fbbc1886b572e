import { expect, it } from 'vitest';
import { type Home, newHome, openTestAgent, readSessionFile, sessionFiles } from '../support/agent/test-agent.ts';
import type { Peer, WireRecord } from '../support/clients/peer.ts';
import { randomFrom } from '../support/random.ts';

const POINTS = process.env['SOAK'] ? 200 : 12;
const SEED = Number(process.env['CRASH_SEED'] ?? Math.floor(Math.random() * 1_000_000));
const MAX_CRASHES = 3;
// About the number of records of two runs with tools and queued messages.
const MAX_RECORDS = 120;

// Alternates responses with and without tools, slowly enough to be killed between any two steps.
const script = [
  {
    steps: [
      { thinking: 'Which tools?', chunks: 3 },
      { text: 'I use two tools.', chunks: 4, delayMs: 1 },
      { toolCall: { name: 'bash', arguments: { command: 'echo one >> log.txt; sleep 0.02; echo done' } } },
      { toolCall: { name: 'write', arguments: { path: 'note.txt', content: 'a note' } } },
    ],
  },
  { text: 'That is all for now.', chunks: 6, delayMs: 1 },
  { repeat: true },
];

for (let point = 0; point < POINTS; point++) {
  const seed = SEED + point;
  it(`[J17 J18 J11 P42 P45] every acknowledged message is stored exactly once after SIGKILL (CRASH_SEED=${seed})`, async () => {
    const random = randomFrom(seed);
    const home = newHome();
    const messages: Message[] = [];
    const crashes = 1 + random(MAX_CRASHES);

    for (let crash = 0; crash < crashes; crash++) {
      await crashAfter(home, messages, random);
      await expectNothingLost(home, messages);
    }

    await expectExactlyOnce(home, messages);
  }, 120_000);
}

/** A message whose id makes a repeated send safe; its text is that id. */
interface Message {
  readonly id: string;
  readonly type: 'prompt' | 'steer' | 'follow_up';
  /** Data of the response; undefined when the agent died before it responded. */
  acknowledged?: { readonly disposition: string; readonly queueId?: string } | undefined;
}

/** Keeps an agent busy and kills it after a random number of records. */
async function crashAfter(home: Home, messages: Message[], random: (below: number) => number): Promise<void> {
  const { peer, process } = await openTestAgent('stdio', { home, script, args: sessionArguments(home) });
  const lastRecord = random(MAX_RECORDS);
  const sent: Message[] = [];
  const send = (type: Message['type']) => {
    const message: Message = { id: `m${messages.length}`, type };
    messages.push(message);
    sent.push(message);
    peer.send({ id: message.id, type, message: message.id, clientMessageId: message.id });
  };

  send('prompt');
  for (let count = 0; count < lastRecord; count++) {
    const { type } = await peer.next(() => true);
    if (type === 'agent_settled') send('prompt');
    if (type === 'turn_start' && sent.length < 8) send(random(2) === 0 ? 'steer' : 'follow_up');
  }
  for (let ticks = random(30); ticks > 0; ticks--) await new Promise((resolve) => setImmediate(resolve));
  process?.kill('SIGKILL');
  await process?.exited;

  for (const message of sent) message.acknowledged = acknowledgement(peer.records, message.id);
}

function acknowledgement(records: readonly WireRecord[], id: string): Message['acknowledged'] {
  const response = records.find((record) => record.type === 'response' && record['id'] === id);
  return response?.['success'] ? (response['data'] as Message['acknowledged']) : undefined;
}

/** Each acknowledged message is in the conversation or the queue, once; each tool call has its result. */
async function expectNothingLost(home: Home, messages: readonly Message[]): Promise<void> {
  const { peer, close } = await openTestAgent('stdio', { home, script, args: sessionArguments(home) });
  const entries = await entriesOf(peer);
  for (const { id, acknowledged } of messages) {
    const delivered = entries.filter(({ clientMessageId }) => clientMessageId === id).length;
    const isInQueue = acknowledged?.queueId !== undefined && (await isQueued(peer, acknowledged.queueId, id));
    if (acknowledged) expect(delivered + Number(isInQueue), id).toBe(1);
    else expect(delivered, id).toBeLessThanOrEqual(1);
  }
  expectWhole(entries);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: true, isStreaming: false });
  await close();
}

/** After a client resends everything, each message is stored once and the session accepts further prompts. */
async function expectExactlyOnce(home: Home, messages: readonly Message[]): Promise<void> {
  const { peer, close } = await openTestAgent('stdio', { home, script, args: sessionArguments(home) });
  for (const { id, acknowledged } of messages) {
    const command = { type: 'prompt', message: id, clientMessageId: id, streamingBehavior: 'followUp' };
    const { duplicate } = await peer.ok(command);
    if (acknowledged) expect(duplicate, id).toBe(true);
  }
  await peer.ok({ type: 'wait_idle' });
  const records = await peer.run({ message: 'go on', clientMessageId: 'last' });

  expect(records.at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'ok' });
  const entries = await entriesOf(peer);
  const sent = entries.flatMap(({ clientMessageId }) => (clientMessageId === undefined ? [] : [clientMessageId]));
  expect(sent.sort()).toEqual([...messages.map(({ id }) => id), 'last'].sort());
  expectWhole(entries);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: true, pendingMessageCount: 0 });
  await close();
  for (const line of readSessionFile(sessionFiles(home)[0] ?? '')) expect(line).toHaveProperty('id');
}

// biome-ignore lint/suspicious/noExplicitAny: whatever entries there are
type Entry = any;

async function entriesOf(peer: Peer): Promise<Entry[]> {
  const { entries } = await peer.ok({ type: 'get_entries' });
  return entries;
}

/** Only a queued message can be edited; the edit keeps its text. */
async function isQueued(peer: Peer, queueId: string, text: string): Promise<boolean> {
  const { success } = await peer.request({ type: 'edit_queued', queueId, message: text });
  return success === true;
}

/** Each entry's parent precedes it, and each tool call has exactly one result. */
function expectWhole(entries: readonly Entry[]): void {
  const known = new Set<string | null>([null]);
  for (const { id, parentId } of entries) {
    expect(known.has(parentId) && !known.has(id)).toBe(true);
    known.add(id);
  }
  const messages = entries.flatMap((entry) => (entry.type === 'message' ? [entry.message] : []));
  const calls = messages.flatMap(({ role, content }) =>
    role === 'assistant' ? content.flatMap((block: Entry) => (block.type === 'toolCall' ? [block.id] : [])) : [],
  );
  const results = messages.flatMap(({ role, toolCallId }) => (role === 'toolResult' ? [toolCallId] : []));
  expect(results.sort()).toEqual(calls.sort());
}

/** Arguments that open the only session of this home, if there is one. */
function sessionArguments(home: Home): string[] {
  const [path] = sessionFiles(home);
  return path === undefined ? [] : ['--session', path];
}
