import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { MAX_WAITING_COMMANDS } from '../../../src/engine/session-lane.ts';
import { MAX_LINE_BYTES } from '../../../src/wire/json-lines.ts';
import { newGate, newHome, type TestAgent } from '../../support/agent/test-agent.ts';
import type { Peer, WireRecord } from '../../support/clients/peer.ts';
import { untilNextPoll } from '../../support/processes/poll.ts';
import { storeLargeConversation } from '../../support/sessions/long-conversation.ts';
import { SINGLE_CLIENT_LIMITS, verifies } from '../../support/verifies.ts';

/** All responses to what was sent so far. */
async function responsesSoFar(peer: Peer): Promise<WireRecord[]> {
  const last = `last ${peer.records.length}`;
  await peer.ok({ type: 'get_last_assistant_text', id: last });
  return peer.records.filter(({ type, id }) => type === 'response' && id !== last);
}

/** A field of /proc/<pid>/status of the agent. */
const processStatus = ({ process }: TestAgent, field: string): string =>
  new RegExp(`^${field}:\\s+(\\w+)`, 'm').exec(readFileSync(`/proc/${process?.pid}/status`, 'utf8'))?.[1] ?? '';

/** Current or peak memory of the agent, in megabytes. */
const megabytes = (agent: TestAgent, field: 'VmRSS' | 'VmHWM') => Number(processStatus(agent, field)) / 1024;

/** Waits until the agent has slept for 30 samples in a row. */
async function waitUntilAsleep(agent: TestAgent): Promise<void> {
  for (let samples = 0; samples < 30; samples++) {
    if (processStatus(agent, 'State') !== 'S') samples = 0;
    await untilNextPoll();
  }
}

/** Polls a condition, for agents whose records are not being read. */
async function pollUntil(condition: () => boolean): Promise<void> {
  while (!condition()) await untilNextPoll();
}

/** Stored messages of this role; a partially written line is ignored. */
function storedMessages({ sessionFiles }: TestAgent, role: string) {
  const lines = readFileSync(sessionFiles()[0] ?? '', 'utf8')
    .split('\n')
    .slice(0, -1);
  const entries = lines.map((line) => JSON.parse(line));
  return entries.flatMap(({ message }) => (message?.role === role ? [message] : []));
}

verifies(
  'F13',
  'a line of 65 MiB is rejected, and the next line is read',
  async ({ open }) => {
    const { peer } = await open();
    const size = 65 * 1024 * 1024;
    const head = '{"id":"big","type":"prompt","message":"';

    peer.send(`${head}${'a'.repeat(size - head.length)}\n`);

    expect(await responsesSoFar(peer)).toEqual([
      {
        id: 'big',
        type: 'response',
        command: 'parse',
        success: false,
        error: `Failed to parse command: a line of ${size} bytes is longer than the limit of ${MAX_LINE_BYTES}`,
        code: 'invalid_json',
      },
    ]);
  },
  SINGLE_CLIENT_LIMITS,
);

verifies(
  'F13 F14',
  'a line of 64 MiB is accepted',
  async ({ open }) => {
    const { peer } = await open();
    const head = '{"id":"full","type":"get_commands","pad":"';
    const tail = '"}';

    peer.send(`${head}${'a'.repeat(MAX_LINE_BYTES - head.length - tail.length)}${tail}\n`);

    expect(await responsesSoFar(peer)).toMatchObject([{ id: 'full', success: true }]);
  },
  SINGLE_CLIENT_LIMITS,
);

verifies(
  'F15',
  'forty megabytes of JSON that are not a command get one response each',
  async ({ open }) => {
    const { peer } = await open();
    const text = 'x'.repeat(40_000_000);

    peer.send(`"${text}"\n`);
    peer.send(`["${text}"]\n`);
    peer.send(`{"id":1,"${text}":null}\n`);
    peer.send(`{"id":2,"type":"${text}"}\n`);

    const [string, array, object, type] = await responsesSoFar(peer);
    expect([string, array, object].map((response) => response?.['command'])).toEqual(['parse', 'parse', 'parse']);
    expect([string, array, object, type].map((response) => response?.['id'])).toEqual([undefined, undefined, 1, 2]);
    expect(type).toMatchObject({ code: 'unknown_command' });
  },
  SINGLE_CLIENT_LIMITS,
);

verifies('F16', 'nesting of 50,000 levels is rejected at any position', async ({ open }) => {
  const { peer } = await open();
  const arrays = '['.repeat(50_000) + ']'.repeat(50_000);
  const objects = '{"a":'.repeat(50_000) + 1 + '}'.repeat(50_000);
  const lines = [arrays, objects, `{"type":${arrays}}`, `{"type":"get_state","id":${arrays}}`].concat(
    `{"type":"get_state","id":${objects}}`,
    `{"type":"prompt","message":${objects},"id":"parameter"}`,
    `{"type":"get_state","unknown":${arrays},"id":"unknown"}`,
    `{"type":"set_host_tools","tools":[{"name":"a","description":"b","parameters":${objects}}],"id":"inner"}`,
    `{"type":"no_command","unknown":${objects},"id":"no command"}`,
    '['.repeat(50_000),
    `{"id":"open","type":${'{"a":'.repeat(50_000)}`,
  );

  for (const line of lines) peer.send(`${line}\n`);

  const rejections = await responsesSoFar(peer);
  expect(rejections.map(({ success }) => success)).toEqual(lines.map(() => false));
  const ids = rejections.map(({ id }) => id).filter((id) => id !== undefined);
  expect(ids).toEqual(['parameter', 'unknown', 'inner', 'no command', 'open']);
});

verifies('C4 F16', 'a nested id within the limit is returned unchanged', async ({ open }) => {
  const { peer } = await open();
  const id = '['.repeat(900) + ']'.repeat(900);

  peer.send(`{"type":"get_commands","id":${id}}\n`);

  const [response] = await responsesSoFar(peer);
  expect(JSON.stringify(response?.['id'])).toBe(id);
});

verifies('C3 C4', 'falsy and empty ids are returned unchanged', async ({ open }) => {
  const { peer } = await open();
  const ids = [0, null, '', false, -0, [], {}];

  for (const id of ids) peer.send({ id, type: 'get_commands' });

  expect((await responsesSoFar(peer)).map((response) => response['id'])).toEqual([0, null, '', false, 0, [], {}]);
});

verifies(
  'C12 C23',
  'wait_idle commands up to the limit wait for the run, and each is answered',
  async ({ open }) => {
    const gate = newGate();
    const { peer } = await open({ script: [{ steps: [{ text: 'a' }, { await: gate.path }] }] });
    const { runId } = await peer.ok({ type: 'prompt', message: 'go' });
    const idleResponses = () => peer.records.filter(({ command }) => command === 'wait_idle');

    for (let id = 0; id <= MAX_WAITING_COMMANDS; id++) peer.send({ id, type: 'wait_idle' });
    await peer.find(({ id }) => id === MAX_WAITING_COMMANDS);
    const early = idleResponses();
    gate.open();
    await peer.find(({ id }) => id === MAX_WAITING_COMMANDS - 1);
    const all = idleResponses();

    expect(early).toEqual([expect.objectContaining({ id: MAX_WAITING_COMMANDS, success: false, code: 'overloaded' })]);
    expect(all).toHaveLength(MAX_WAITING_COMMANDS + 1);
    expect(new Set(all.map(({ id }) => id)).size).toBe(MAX_WAITING_COMMANDS + 1);
    expect(all.at(-1)?.['data']).toEqual({ isIdle: true, runId, outcome: 'ok' });
  },
  SINGLE_CLIENT_LIMITS,
);

verifies(
  'C12',
  'ten thousand aborts stop a run once, and each is answered',
  async ({ open }) => {
    const gate = newGate();
    const { peer } = await open({ script: [{ steps: [{ text: 'a' }, { await: gate.path }] }] });
    await peer.ok({ type: 'prompt', message: 'go' });
    await peer.next('message_update');

    for (let id = 0; id < 10_000; id++) peer.send({ id, type: 'abort' });
    await peer.find(({ id }) => id === 9999);

    const aborts = peer.records.filter(({ command }) => command === 'abort');
    expect(aborts.map(({ id }) => id)).toEqual(Array.from({ length: 10_000 }, (_, id) => id));
    expect(peer.records.filter(({ type }) => type === 'agent_settled')).toHaveLength(1);
  },
  SINGLE_CLIENT_LIMITS,
);

for (const stream of ['cumulative', 'delta']) {
  verifies(
    'C17 F18',
    `a client that never reads costs bounded memory and can abort the run (${stream})`,
    async ({ open }) => {
      const tool = { toolCall: { name: 'bash', arguments: { command: 'touch streamed; sleep 1000' } } };
      const agent = await open({ script: [{ steps: [{ text: 'a', times: 40_000 }, tool] }] });
      const { peer, home } = agent;
      await peer.ok({ type: 'hello', stream });
      const before = megabytes(agent, 'VmRSS');

      peer.link.pause();
      peer.send({ type: 'prompt', message: 'go' });
      await pollUntil(() => existsSync(join(home.cwd, 'streamed')));
      peer.send({ id: 'stop', type: 'abort' });
      await pollUntil(() => storedMessages(agent, 'toolResult').length === 1);
      const peak = megabytes(agent, 'VmHWM');
      peer.link.resume();
      await peer.find(({ id }) => id === 'stop');

      expect(peak).toBeLessThan(4 * before);
      const settled = peer.records.filter(({ type }) => type === 'agent_settled');
      expect(settled).toMatchObject([{ outcome: 'aborted' }]);
      const [response] = storedMessages(agent, 'assistant');
      expect(response.content[0]).toEqual({ type: 'text', text: 'a'.repeat(40_000) });
      expect(peer.records).toContainEqual({ type: 'message_end', message: response });
    },
    ['stdio', 'unix'],
  );
}

verifies(
  'C17',
  'a client that never reads a response of many blocks costs bounded memory and can abort the run',
  async ({ open }) => {
    const blocks = Array.from({ length: 1500 }, (_, index) => [
      { text: `text ${index} `.repeat(10), chunks: 1 },
      { thinking: `thought ${index} `.repeat(10), chunks: 1 },
    ]);
    const agent = await open({ script: [{ steps: [...blocks.flat(), { stall: true }] }] });
    const { peer } = agent;
    await peer.greeted();
    const before = megabytes(agent, 'VmRSS');

    peer.link.pause();
    peer.send({ type: 'prompt', message: 'go' });
    await waitUntilAsleep(agent);
    peer.send({ id: 'stop', type: 'abort' });
    await pollUntil(() => storedMessages(agent, 'assistant').length === 1);
    const peak = megabytes(agent, 'VmHWM');
    peer.link.resume();
    await peer.find(({ id }) => id === 'stop');

    expect(peak).toBeLessThan(4 * before);
    expect(await peer.find('agent_settled')).toMatchObject({ outcome: 'aborted' });
  },
  ['stdio', 'unix'],
);

verifies(
  'C12 F18',
  'a client that sends without reading gets every response once it reads',
  async ({ open }) => {
    const { peer } = await open({ script: [{ text: 'a'.repeat(1000), times: 20 }] });
    await peer.ok({ type: 'hello', stream: 'delta' });
    await peer.run('go');

    peer.link.pause();
    for (let id = 0; id < 2500; id++) peer.send({ id, type: 'get_messages' });
    await peer.link.flush();
    peer.link.resume();
    await peer.find(({ id }) => id === 2499);

    const ids = peer.records.filter(({ command }) => command === 'get_messages').map(({ id }) => id);
    expect(ids).toEqual(Array.from({ length: 2500 }, (_, id) => id));
  },
  SINGLE_CLIENT_LIMITS,
);

verifies(
  'W101 C17',
  'a client that does not read its responses aborts its run ahead of its reads',
  async ({ open }) => {
    const home = newHome();
    const session = storeLargeConversation(home, 20);
    const script = [{ steps: [{ text: 'Well, ' }, { await: newGate().path }] }];
    const settings = { compaction: { enabled: false } };
    const agent = await open({ home, script, settings, args: ['--session', session] });
    const { peer } = agent;
    await peer.ok({ type: 'hello', stream: 'delta' });
    await peer.ok({ type: 'prompt', message: 'go' });
    await peer.find('message_update');

    peer.link.pause();
    for (let id = 1; id <= 10; id++) peer.send({ id, type: 'get_messages' });
    await waitUntilAsleep(agent);
    peer.send({ id: 'stop', type: 'abort' });
    await pollUntil(() => storedMessages(agent, 'assistant').at(-1)?.stopReason === 'aborted');
    peer.link.resume();
    await peer.find(({ id }) => id === 10);

    const ids = peer.records.filter(({ type, id }) => type === 'response' && id !== undefined).map(({ id }) => id);
    expect(ids.indexOf('stop')).toBeLessThan(ids.indexOf(3));
    expect(peer.records.filter(({ type }) => type === 'agent_settled')).toMatchObject([{ outcome: 'aborted' }]);
  },
  ['stdio', 'unix'],
);

verifies(
  'F18',
  'unread responses do not accumulate',
  async ({ open }) => {
    const agent = await open({ script: [{ text: 'a'.repeat(1000), times: 400 }] });
    const { peer } = agent;
    await peer.ok({ type: 'hello', stream: 'delta' });
    await peer.run('go');
    const before = megabytes(agent, 'VmRSS');

    peer.link.pause();
    peer.send('{"type":"get_messages"}\n'.repeat(2500));
    await peer.link.flush();
    await waitUntilAsleep(agent);

    expect(megabytes(agent, 'VmHWM')).toBeLessThan(4 * before);
  },
  ['stdio', 'unix'],
);

verifies(
  'B19',
  'bash output for a client that does not read costs bounded memory, and the command ends',
  async ({ open }) => {
    const agent = await open();
    const { peer, home } = agent;
    await peer.ok({ type: 'bash', command: 'true' });
    const before = megabytes(agent, 'VmRSS');

    peer.link.pause();
    peer.send({ id: 'flood', type: 'bash', command: 'yes flood | head -c 48000000; echo the end; touch flooded' });
    await pollUntil(() => existsSync(join(home.cwd, 'flooded')));
    await pollUntil(() => storedMessages(agent, 'bashExecution').length === 2);
    const peak = megabytes(agent, 'VmHWM');
    peer.link.resume();
    const response = await peer.find(({ id, type }) => id === 'flood' && type === 'response');
    rmSync((response['data'] as { fullOutputPath: string }).fullOutputPath);

    expect(peak).toBeLessThan(4 * before);
    const updates = peer.records.filter(({ type }) => type === 'bash_execution_update');
    const text = updates.map(({ delta }) => delta).join('');
    expect(text.endsWith('flood\nthe end\n')).toBe(true);
    expect(text.length).toBeLessThan(5_000_000);
  },
  ['stdio', 'unix'],
);
