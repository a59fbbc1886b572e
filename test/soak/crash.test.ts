import { expect, it } from 'vitest';
import { type Home, newHome, open, sessionFiles, stored } from '../support/open.ts';
import type { Peer, Record_ } from '../support/peer.ts';
import { randomFrom } from '../support/random.ts';

const POINTS = process.env['SOAK'] ? 200 : 12;
const SEED = Number(process.env['CRASH_SEED'] ?? Math.floor(Math.random() * 1_000_000));
const MAX_CRASHES = 3;
/** About as many records as two runs with their tools and queued messages give. */
const MAX_RECORDS = 120;

/** Answers with tools and answers without, in turns, at a pace that leaves room for a kill between any two steps. */
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
  it(`[J17 J18 J11 P42 P45] nothing acknowledged is lost or doubled by SIGKILL (CRASH_SEED=${seed})`, async () => {
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

/** A message under the id that makes it safe to send again; its text is that id. */
interface Message {
  readonly id: string;
  readonly type: 'prompt' | 'steer' | 'follow_up';
  /** What the agent answered before it died; undefined: it never did. */
  acknowledged?: { readonly disposition: string; readonly queueId?: string } | undefined;
}

/** Keeps an agent busy and kills it at some moment. */
async function crashAfter(home: Home, messages: Message[], random: (below: number) => number): Promise<void> {
  const { peer, process } = await open('stdio', { home, script, args: sessionArguments(home) });
  const lastRecord = random(MAX_RECORDS);
  const said: Message[] = [];
  const say = (type: Message['type']) => {
    const message: Message = { id: `m${messages.length}`, type };
    messages.push(message);
    said.push(message);
    peer.send({ id: message.id, type, message: message.id, clientMessageId: message.id });
  };

  say('prompt');
  for (let count = 0; count < lastRecord; count++) {
    const { type } = await peer.next(() => true);
    if (type === 'agent_settled') say('prompt');
    if (type === 'turn_start' && said.length < 8) say(random(2) === 0 ? 'steer' : 'follow_up');
  }
  for (let moment = random(30); moment > 0; moment--) await new Promise((resolve) => setImmediate(resolve));
  process?.kill('SIGKILL');
  await process?.exited;

  for (const message of said) message.acknowledged = acknowledgement(peer.records, message.id);
}

function acknowledgement(records: readonly Record_[], id: string): Message['acknowledged'] {
  const response = records.find((record) => record.type === 'response' && record['id'] === id);
  return response?.['success'] ? (response['data'] as Message['acknowledged']) : undefined;
}

/** What was acknowledged is in the conversation or back in the queue, once; every tool call has its result. */
async function expectNothingLost(home: Home, messages: readonly Message[]): Promise<void> {
  const { peer, close } = await open('stdio', { home, script, args: sessionArguments(home) });
  const entries = await entriesOf(peer);
  for (const { id, acknowledged } of messages) {
    const delivered = entries.filter(({ clientMessageId }) => clientMessageId === id).length;
    const waiting = acknowledged?.queueId !== undefined && (await isWaiting(peer, acknowledged.queueId, id));
    if (acknowledged) expect(delivered + Number(waiting), id).toBe(1);
    else expect(delivered, id).toBeLessThanOrEqual(1);
  }
  expectWhole(entries);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: true, isStreaming: false });
  await close();
}

/** A client that is not sure sends everything again: in the end each message was said once, and the session goes on. */
async function expectExactlyOnce(home: Home, messages: readonly Message[]): Promise<void> {
  const { peer, close } = await open('stdio', { home, script, args: sessionArguments(home) });
  for (const { id, acknowledged } of messages) {
    const command = { type: 'prompt', message: id, clientMessageId: id, streamingBehavior: 'followUp' };
    const { duplicate } = await peer.ok(command);
    if (acknowledged) expect(duplicate, id).toBe(true);
  }
  await peer.ok({ type: 'wait_idle' });
  const records = await peer.run({ message: 'go on', clientMessageId: 'last' });

  expect(records.at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'ok' });
  const entries = await entriesOf(peer);
  const said = entries.flatMap(({ clientMessageId }) => (clientMessageId === undefined ? [] : [clientMessageId]));
  expect(said.sort()).toEqual([...messages.map(({ id }) => id), 'last'].sort());
  expectWhole(entries);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: true, pendingMessageCount: 0 });
  await close();
  for (const line of stored(sessionFiles(home)[0] ?? '')) expect(line).toHaveProperty('id');
}

// biome-ignore lint/suspicious/noExplicitAny: whatever entries there are
type Entry = any;

async function entriesOf(peer: Peer): Promise<Entry[]> {
  const { entries } = await peer.ok({ type: 'get_entries' });
  return entries;
}

/** Only a message that waits can be edited; this one gets the text it has. */
async function isWaiting(peer: Peer, queueId: string, text: string): Promise<boolean> {
  const { success } = await peer.request({ type: 'edit_queued', queueId, message: text });
  return success === true;
}

/** Each entry continues one before it, and each tool call has exactly one result. */
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

/** The one session of this home; the first time there is none yet. */
function sessionArguments(home: Home): string[] {
  const [path] = sessionFiles(home);
  return path === undefined ? [] : ['--session', path];
}
