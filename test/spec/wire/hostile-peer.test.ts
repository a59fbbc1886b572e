import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { MAX_WAITING_COMMANDS } from '../../../src/engine/session-lane.ts';
import { MAX_LINE_BYTES } from '../../../src/wire/json-lines.ts';
import { newGate, type TestAgent } from '../../support/agent/test-agent.ts';
import type { Peer, WireRecord } from '../../support/clients/peer.ts';
import { SINGLE_CLIENT_LIMITS, verifies } from '../../support/verifies.ts';

/** Every answer up to now, when everything that was sent has been read. */
async function answers(peer: Peer): Promise<WireRecord[]> {
  const last = `last ${peer.records.length}`;
  await peer.ok({ type: 'get_last_assistant_text', id: last });
  return peer.records.filter(({ type, id }) => type === 'response' && id !== last);
}

/** What the kernel says of the agent. */
const status = ({ process }: TestAgent, what: string): string =>
  new RegExp(`^${what}:\\s+(\\w+)`, 'm').exec(readFileSync(`/proc/${process?.pid}/status`, 'utf8'))?.[1] ?? '';

/** Megabytes that the agent holds now, or held at most, in memory. */
const megabytes = (agent: TestAgent, what: 'VmRSS' | 'VmHWM') => Number(status(agent, what)) / 1024;

/** Settles when the agent has done what it can: it sleeps whenever one looks. */
async function atRest(agent: TestAgent): Promise<void> {
  for (let looks = 0; looks < 300; looks++) {
    if (status(agent, 'State') !== 'S') looks = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Settles as soon as the session files say so. Nothing else tells what an agent does whose records nobody reads. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

/** What somebody said, as far as it is stored; a line that is just being written does not count. */
function saidBy({ sessionFiles }: TestAgent, role: string) {
  const lines = readFileSync(sessionFiles()[0] ?? '', 'utf8')
    .split('\n')
    .slice(0, -1);
  const entries = lines.map((line) => JSON.parse(line));
  return entries.flatMap(({ message }) => (message?.role === role ? [message] : []));
}

verifies(
  'F13',
  'a line of 65 MiB is refused, and the next one is read',
  async ({ open }) => {
    const { peer } = await open();
    const size = 65 * 1024 * 1024;
    const head = '{"id":"big","type":"prompt","message":"';

    peer.send(`${head}${'a'.repeat(size - head.length)}\n`);

    expect(await answers(peer)).toEqual([
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
  'a line of 64 MiB is taken',
  async ({ open }) => {
    const { peer } = await open();
    const head = '{"id":"full","type":"get_commands","pad":"';
    const tail = '"}';

    peer.send(`${head}${'a'.repeat(MAX_LINE_BYTES - head.length - tail.length)}${tail}\n`);

    expect(await answers(peer)).toMatchObject([{ id: 'full', success: true }]);
  },
  SINGLE_CLIENT_LIMITS,
);

verifies(
  'F15',
  'forty megabytes of JSON that are no command get one answer each',
  async ({ open }) => {
    const { peer } = await open();
    const text = 'x'.repeat(40_000_000);

    peer.send(`"${text}"\n`);
    peer.send(`["${text}"]\n`);
    peer.send(`{"id":1,"${text}":null}\n`);
    peer.send(`{"id":2,"type":"${text}"}\n`);

    const [string, array, object, type] = await answers(peer);
    expect([string, array, object].map((answer) => answer?.['command'])).toEqual(['parse', 'parse', 'parse']);
    expect([string, array, object, type].map((answer) => answer?.['id'])).toEqual([undefined, undefined, 1, 2]);
    expect(type).toMatchObject({ code: 'unknown_command' });
  },
  SINGLE_CLIENT_LIMITS,
);

verifies('F16', 'nesting of 50,000 levels is refused, wherever it is', async ({ open }) => {
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

  const refusals = await answers(peer);
  expect(refusals.map(({ success }) => success)).toEqual(lines.map(() => false));
  const ids = refusals.map(({ id }) => id).filter((id) => id !== undefined);
  expect(ids).toEqual(['parameter', 'unknown', 'inner', 'no command', 'open']);
});

verifies('C4 F16', 'nesting that can be written back is an id like any other', async ({ open }) => {
  const { peer } = await open();
  const id = '['.repeat(900) + ']'.repeat(900);

  peer.send(`{"type":"get_commands","id":${id}}\n`);

  const [answer] = await answers(peer);
  expect(JSON.stringify(answer?.['id'])).toBe(id);
});

verifies('C3 C4', 'ids that look like nothing are ids', async ({ open }) => {
  const { peer } = await open();
  const ids = [0, null, '', false, -0, [], {}];

  for (const id of ids) peer.send({ id, type: 'get_commands' });

  expect((await answers(peer)).map((answer) => answer['id'])).toEqual([0, null, '', false, 0, [], {}]);
});

verifies(
  'C12 C23',
  'as many may wait for the end of a run as may wait at all, and each is told',
  async ({ open }) => {
    const gate = newGate();
    const { peer } = await open({ script: [{ steps: [{ text: 'a' }, { await: gate.path }] }] });
    const { runId } = await peer.ok({ type: 'prompt', message: 'go' });
    const told = () => peer.records.filter(({ command }) => command === 'wait_idle');

    for (let id = 0; id <= MAX_WAITING_COMMANDS; id++) peer.send({ id, type: 'wait_idle' });
    await peer.find(({ id }) => id === MAX_WAITING_COMMANDS);
    const early = told();
    gate.open();
    await peer.find(({ id }) => id === MAX_WAITING_COMMANDS - 1);
    const all = told();

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
    `a client that never reads costs little and can stop the run (${stream})`,
    async ({ open }) => {
      const tool = { toolCall: { name: 'bash', arguments: { command: 'touch streamed; sleep 1000' } } };
      const agent = await open({ script: [{ steps: [{ text: 'a', times: 40_000 }, tool] }] });
      const { peer, home } = agent;
      await peer.ok({ type: 'hello', stream });
      const before = megabytes(agent, 'VmRSS');

      peer.link.pause();
      peer.send({ type: 'prompt', message: 'go' });
      await until(() => existsSync(join(home.cwd, 'streamed')));
      peer.send({ id: 'stop', type: 'abort' });
      await until(() => saidBy(agent, 'toolResult').length === 1);
      const most = megabytes(agent, 'VmHWM');
      peer.link.resume();
      await peer.find(({ id }) => id === 'stop');

      expect(most).toBeLessThan(4 * before);
      const settled = peer.records.filter(({ type }) => type === 'agent_settled');
      expect(settled).toMatchObject([{ outcome: 'aborted' }]);
      const [answer] = saidBy(agent, 'assistant');
      expect(answer.content[0]).toEqual({ type: 'text', text: 'a'.repeat(40_000) });
      expect(peer.records).toContainEqual({ type: 'message_end', message: answer });
    },
    ['stdio', 'unix'],
  );
}

verifies(
  'C17',
  'a client that never reads an answer of many blocks costs little and can stop the run',
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
    await atRest(agent);
    peer.send({ id: 'stop', type: 'abort' });
    await until(() => saidBy(agent, 'assistant').length === 1);
    const most = megabytes(agent, 'VmHWM');
    peer.link.resume();
    await peer.find(({ id }) => id === 'stop');

    expect(most).toBeLessThan(4 * before);
    expect(await peer.find('agent_settled')).toMatchObject({ outcome: 'aborted' });
  },
  ['stdio', 'unix'],
);

verifies(
  'C12 F18',
  'a client that asks and asks and does not read gets every answer when it does',
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
  'F18',
  'the answers that such a client has not read do not pile up',
  async ({ open }) => {
    const agent = await open({ script: [{ text: 'a'.repeat(1000), times: 400 }] });
    const { peer } = agent;
    await peer.ok({ type: 'hello', stream: 'delta' });
    await peer.run('go');
    const before = megabytes(agent, 'VmRSS');

    peer.link.pause();
    peer.send('{"type":"get_messages"}\n'.repeat(2500));
    await peer.link.flush();
    await atRest(agent);

    expect(megabytes(agent, 'VmHWM')).toBeLessThan(4 * before);
  },
  ['stdio', 'unix'],
);

verifies(
  'B19',
  'a command that floods a client which does not read costs little, and ends',
  async ({ open }) => {
    const agent = await open();
    const { peer, home } = agent;
    await peer.ok({ type: 'bash', command: 'true' });
    const before = megabytes(agent, 'VmRSS');

    peer.link.pause();
    peer.send({ id: 'flood', type: 'bash', command: 'yes flood | head -c 48000000; echo the end; touch flooded' });
    await until(() => existsSync(join(home.cwd, 'flooded')));
    await until(() => saidBy(agent, 'bashExecution').length === 2);
    const most = megabytes(agent, 'VmHWM');
    peer.link.resume();
    const response = await peer.find(({ id, type }) => id === 'flood' && type === 'response');
    rmSync((response['data'] as { fullOutputPath: string }).fullOutputPath);

    expect(most).toBeLessThan(4 * before);
    const updates = peer.records.filter(({ type }) => type === 'bash_execution_update');
    const text = updates.map(({ delta }) => delta).join('');
    expect(text.endsWith('flood\nthe end\n')).toBe(true);
    expect(text.length).toBeLessThan(5_000_000);
  },
  ['stdio', 'unix'],
);
