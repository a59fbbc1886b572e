import { describe, expect, it, vi } from 'vitest';
import { commandRows } from '../protocol/generated/command-rows.ts';
import { memoryPair } from '../wire/memory.ts';
import { AgentClient, CommandFailed } from './client.ts';
import { ConnectionLost } from './connection-lost.ts';
import { EventsLost, MAX_UNREAD } from './event-stream.ts';
import { MAX_WITH_UPDATES } from './prompt-run.ts';

type Sent = Record<string, unknown> & { id: string; type: string };

/** A client and the other end of its wire, where the test plays the agent. */
function connect() {
  const [agent, link] = memoryPair();
  const sent: Sent[] = [];
  agent.onLine((line) => {
    if ('text' in line) sent.push(JSON.parse(line.text));
  });
  const client = new AgentClient(link);
  const say = (...records: (object | string)[]) => {
    const lines = records.map((record) => (typeof record === 'string' ? record : JSON.stringify(record)));
    agent.write(lines.map((line) => `${line}\n`).join(''));
  };
  const answer = (id: string, fields: object) => say({ id, type: 'response', success: true, ...fields });
  return { client, sent, say, answer, agent };
}

const settled = (runId: string): object => ({
  type: 'agent_settled',
  runId,
  aborted: false,
  outcome: 'ok',
  clientMessageIds: [],
});

const MEGABYTES = 'x'.repeat(8 * 1024 * 1024);

const delivered = () => new Promise((resolve) => setImmediate(resolve));

describe('calls', () => {
  it('[V1] are numbered req_1, req_2, req_3', async () => {
    const { client, sent } = connect();

    for (const _ of [1, 2, 3]) void client.getState();
    await delivered();

    expect(sent.map(({ id }) => id)).toEqual(['req_1', 'req_2', 'req_3']);
  });

  it('[V2] take the answer with their own id, in whatever order answers come', async () => {
    const { client, answer } = connect();
    const first = client.getLastAssistantText();
    const second = client.getLastAssistantText();

    answer('req_2', { command: 'get_last_assistant_text', data: { text: 'second' } });
    answer('req_1', { command: 'get_last_assistant_text', data: { text: 'first' } });

    expect(await Promise.all([first, second])).toEqual([{ text: 'first' }, { text: 'second' }]);
  });

  it('[V2] are not disturbed by answers to nobody', async () => {
    const { client, say, answer } = connect();
    const call = client.getLastAssistantText();

    answer('req_7', { data: 'stray' });
    say({ type: 'response', command: 'parse', success: false, error: 'no id' });
    answer('req_1', { data: { text: 'mine' } });
    answer('req_1', { data: { text: 'twice' } });

    expect(await call).toEqual({ text: 'mine' });
  });

  it('[V5] exist for every command', async () => {
    const { client, sent } = connect();
    const names = Object.keys(commandRows);
    const methods = client as unknown as Record<string, (params: object) => Promise<unknown>>;

    for (const name of names) {
      const method = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
      expect(methods[method], method).toBeTypeOf('function');
      void methods[method]?.({ marker: name });
    }
    await delivered();

    expect(sent.map(({ type }) => type)).toEqual(names);
  });

  it('fail with the code and the text of the refusal', async () => {
    const { client, say } = connect();
    const call = client.setModel({ provider: 'acme', modelId: 'x' });

    say({
      id: 'req_1',
      type: 'response',
      command: 'set_model',
      success: false,
      error: 'No x',
      code: 'model_not_found',
    });

    const error = await call.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CommandFailed);
    expect(error).toMatchObject({ command: 'set_model', code: 'model_not_found', message: 'No x' });
  });

  it('[V12] set no timer', () => {
    vi.useFakeTimers();
    const { client } = connect();

    void client.getState();
    void client.waitIdle();
    void client.promptAndWait('hello');

    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });
});

describe('events', () => {
  it('[V4] reach every listener, also those of unknown types', async () => {
    const { client, say } = connect();
    const heard: string[][] = [[], []];
    client.onEvent(({ type }) => heard[0]?.push(type));
    const stop = client.onEvent(({ type }) => heard[1]?.push(type));

    say({ type: 'agent_start' }, { type: 'from_the_future', answer: 42 });
    await delivered();
    stop();
    say({ type: 'turn_start' });
    await delivered();

    expect(heard).toEqual([
      ['agent_start', 'from_the_future', 'turn_start'],
      ['agent_start', 'from_the_future'],
    ]);
  });

  it('[V4] come through whatever else is on the line', async () => {
    const { client, say } = connect();
    const heard: string[] = [];
    client.onEvent(({ type }) => heard.push(type));

    say('Welcome to the wrapper!', '', '42', 'null', '[]', { type: 'agent_start' });
    await delivered();

    expect(heard).toContain('agent_start');
  });

  it('[V4] are not kept from others by a listener that throws', async () => {
    const { client, say } = connect();
    const thrown: unknown[] = [];
    process.once('uncaughtException', (error) => thrown.push(error));
    const heard: string[] = [];
    client.onEvent(({ type }) => {
      if (type === 'agent_start') throw new Error('mine');
    });
    client.onEvent(({ type }) => heard.push(type));

    say({ type: 'agent_start' }, { type: 'turn_start' });
    await delivered();

    expect(heard).toEqual(['agent_start', 'turn_start']);
    expect(thrown).toEqual([new Error('mine')]);
  });

  it('[V8] can be read one by one, however late', async () => {
    const { client, say, agent } = connect();
    const events = client.events();

    say({ type: 'agent_start' }, { type: 'turn_start' }, { type: 'turn_end' });
    await delivered();
    agent.close();
    const read: string[] = [];
    for await (const { type } of events) read.push(type);

    expect(read).toEqual(['agent_start', 'turn_start', 'turn_end']);
  });

  it('[V8] can be asked for before they come, several at a time', async () => {
    const { client, say } = connect();
    const events = client.events();
    const asked = [events.next(), events.next(), events.next()];

    say({ type: 'agent_start' }, { type: 'turn_start' });
    const first = await Promise.all(asked.slice(0, 2));
    client.close();

    expect(first).toEqual([
      { done: false, value: { type: 'agent_start' } },
      { done: false, value: { type: 'turn_start' } },
    ]);
    expect(await asked[2]).toEqual({ done: true, value: undefined });
  });

  it('[V8] stop for a reader that has left, and only for it', async () => {
    const { client, say } = connect();
    const staying = client.events();
    const leaving = client.events();

    say({ type: 'agent_start' });
    for await (const _ of leaving) break;
    say({ type: 'turn_start' });

    expect(await leaving.next()).toEqual({ done: true, value: undefined });
    expect(await staying.next()).toMatchObject({ value: { type: 'agent_start' } });
    expect(await staying.next()).toMatchObject({ value: { type: 'turn_start' } });
  });
});

describe('an iterator that nobody reads', () => {
  /** Events two by two, the last of which are too many. */
  const flood = async (say: (...records: object[]) => void) => {
    for (let told = 0; told <= MAX_UNREAD; told += MEGABYTES.length) {
      say({ type: 'flood', text: MEGABYTES }, { type: 'flood', text: MEGABYTES });
      await delivered();
    }
    say({ type: 'agent_end' });
    await delivered();
  };

  it('[V8] fails, once, and lets its events go', async () => {
    const { client, say } = connect();
    const events = client.events();

    await flood(say);
    say({ type: 'agent_start' });

    await expect(events.next()).rejects.toBeInstanceOf(EventsLost);
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });

  it('[V8] disturbs neither listeners nor an iterator that is read', async () => {
    const { client, say } = connect();
    const heard: string[] = [];
    client.onEvent(({ type }) => heard.push(type));
    client.events();
    const read: string[] = [];
    const reading = (async () => {
      for await (const { type } of client.events()) {
        read.push(type);
        if (type === 'agent_end') return;
      }
    })();

    await flood(say);
    await reading;

    expect(heard.at(-1)).toBe('agent_end');
    expect(read).toEqual(heard);
  });
});

describe('promptAndWait', () => {
  it('[V9 V10] answers when its own run has settled, with every event of it and no other', async () => {
    const { client, say, answer } = connect();
    const run = client.promptAndWait('hello');

    say({ type: 'agent_end', messages: ['of another'] }, settled('before'));
    answer('req_1', { data: { disposition: 'started', runId: 'r1' } });
    say({ type: 'agent_start' }, { type: 'agent_end', messages: ['m1', 'm2'] }, settled('r1'), { type: 'agent_start' });

    const { settled: last, messages, events } = await run;
    expect(last).toEqual(settled('r1'));
    expect(messages).toEqual(['m1', 'm2']);
    expect(events.map(({ type }) => type)).toEqual(['agent_start', 'agent_end', 'agent_settled']);
  });

  it('[V10] notices a run that settled before the answer was read', async () => {
    const { client, say, answer } = connect();
    const run = client.promptAndWait({ message: 'hello' });

    say({ type: 'agent_start' }, settled('r1'));
    answer('req_1', { data: { disposition: 'started', runId: 'r1' } });

    expect((await run).settled).toEqual(settled('r1'));
  });

  it('[V9] waits for the run that a queued prompt has joined', async () => {
    const { client, say, answer } = connect();
    const run = client.promptAndWait({ message: 'and', streamingBehavior: 'followUp' });

    answer('req_1', { data: { disposition: 'queued', runId: 'r1', queueId: 'q1' } });
    say(settled('r1'));

    expect((await run).settled).toEqual(settled('r1'));
  });

  it('[V9] fails when the prompt is refused', async () => {
    const { client, say } = connect();
    const refused = client.promptAndWait('hello');

    say({ id: 'req_1', type: 'response', command: 'prompt', success: false, error: 'Busy', code: 'agent_busy' });

    await expect(refused).rejects.toMatchObject({ name: 'CommandFailed', code: 'agent_busy' });
  });

  it.each([
    ['was handled', { disposition: 'handled' }],
    ['was here before and is served', { disposition: 'handled', duplicate: true }],
    [
      'was here before and is queued, of which no run takes it',
      { disposition: 'queued', queueId: 'q', duplicate: true },
    ],
  ])('[V9] waits for nothing when the prompt %s', async (_case, accepted) => {
    const { client, say, answer } = connect();
    const run = client.promptAndWait({ message: 'hello', clientMessageId: 'c1' });

    say({ type: 'agent_start' }, settled('another'));
    answer('req_1', { data: accepted });

    expect(await run).toEqual({ accepted, settled: undefined, messages: [], events: [] });
  });

  it('[V9] leaves out the updates of a run that tells too much of them', async () => {
    const { client, say, answer } = connect();
    const run = client.promptAndWait('hello');
    const delta = (text: string) => ({ type: 'text_delta', contentIndex: 0, delta: text });
    const update = (text: string) => ({ type: 'message_update', assistantMessageEvent: delta(text) });

    answer('req_1', { data: { disposition: 'started', runId: 'r1' } });
    say({ type: 'agent_start' }, update('early'));
    for (let told = 0; told < MAX_WITH_UPDATES; told += MEGABYTES.length) say(update(MEGABYTES));
    say({ type: 'tool_execution_update' }, { type: 'agent_end', messages: ['m1'] }, settled('r1'));

    const { settled: last, messages, events } = await run;
    expect([last, messages]).toEqual([settled('r1'), ['m1']]);
    expect(events.map(({ type }) => type)).toEqual(['agent_start', 'agent_end', 'agent_settled']);
  });
});

describe('the end of the agent', () => {
  it('[V11] rejects everything that waits, and everything after', async () => {
    const { client, answer, agent } = connect();
    const events = client.events();
    const waiting = [client.getState(), client.waitIdle(), client.promptAndWait('a'), client.promptAndWait('b')];
    const outcomes = Promise.allSettled(waiting);
    answer('req_3', { data: { disposition: 'started', runId: 'r1' } });
    await delivered();

    agent.close();

    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(ConnectionLost) });
    }
    await expect(client.getState()).rejects.toBeInstanceOf(ConnectionLost);
    await expect(client.promptAndWait('c')).rejects.toBeInstanceOf(ConnectionLost);
    expect(await events.next()).toMatchObject({ done: true });
    expect(await client.events().next()).toMatchObject({ done: true });
  });

  it('[V11] is told once, also to those who ask later, and not to those who called it off', async () => {
    const { client, agent } = connect();
    const told: string[] = [];
    client.onClose(() => told.push('early'));
    client.onClose(() => told.push('never'))();

    agent.close();
    await delivered();
    client.close();
    client.onClose((error) => told.push(error.name));

    expect(told).toEqual(['early', 'ConnectionLost']);
  });

  it('[V11] includes closing it oneself', async () => {
    const { client } = connect();
    const call = client.getState();

    client.close();

    await expect(call).rejects.toThrow('The client was closed');
  });
});

describe('frames', () => {
  it('[V5] are sent as they are and number nothing', async () => {
    const { client, sent } = connect();

    client.send({ type: 'host_tool_result', id: 'h1', result: { content: [] } });
    void client.getState();
    await delivered();

    expect(sent).toEqual([
      { type: 'host_tool_result', id: 'h1', result: { content: [] } },
      { type: 'get_state', id: 'req_1' },
    ]);
  });
});
