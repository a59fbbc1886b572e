import { describe, expect, it, vi } from 'vitest';
import { commandRows } from '../protocol/generated/command-rows.ts';
import { CommandFailed, ConnectionLost } from './errors.ts';
import { EventsLost, MAX_UNREAD_CHARACTERS } from './event-iterator.ts';
import { connect, delivered, MEGABYTES } from './testing/agent.ts';

describe('calls', () => {
  it('[V1] are numbered req_1, req_2, req_3', async () => {
    const { client, sent } = connect();

    for (const _ of [1, 2, 3]) void client.getState();
    await delivered();

    expect(sent.map(({ id }) => id)).toEqual(['req_1', 'req_2', 'req_3']);
  });

  it('[V2] settle with the response of their own id, in any order of responses', async () => {
    const { client, respond } = connect();
    const first = client.getLastAssistantText();
    const second = client.getLastAssistantText();

    respond('req_2', { command: 'get_last_assistant_text', data: { text: 'second' } });
    respond('req_1', { command: 'get_last_assistant_text', data: { text: 'first' } });

    expect(await Promise.all([first, second])).toEqual([{ text: 'first' }, { text: 'second' }]);
  });

  it('[V2] ignore responses with an unknown or repeated id', async () => {
    const { client, emit, respond } = connect();
    const call = client.getLastAssistantText();

    respond('req_7', { data: 'stray' });
    emit({ type: 'response', command: 'parse', success: false, error: 'no id' });
    respond('req_1', { data: { text: 'mine' } });
    respond('req_1', { data: { text: 'twice' } });

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

  it('reject with the code and the message of the error response', async () => {
    const { client, emit } = connect();
    const call = client.setModel({ provider: 'acme', modelId: 'x' });

    emit({
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
  it('[V4] reach every listener, including events of unknown types', async () => {
    const { client, emit } = connect();
    const received: string[][] = [[], []];
    client.onEvent(({ type }) => received[0]?.push(type));
    const stop = client.onEvent(({ type }) => received[1]?.push(type));

    emit({ type: 'agent_start' }, { type: 'from_the_future', answer: 42 });
    await delivered();
    stop();
    emit({ type: 'turn_start' });
    await delivered();

    expect(received).toEqual([
      ['agent_start', 'from_the_future', 'turn_start'],
      ['agent_start', 'from_the_future'],
    ]);
  });

  it('[V4] arrive despite malformed lines between them', async () => {
    const { client, emit } = connect();
    const received: string[] = [];
    client.onEvent(({ type }) => received.push(type));

    emit('Welcome to the wrapper!', '', '42', 'null', '[]', { type: 'agent_start' });
    await delivered();

    expect(received).toContain('agent_start');
  });

  it('[V4] reach the other listeners when one listener throws', async () => {
    const { client, emit } = connect();
    const thrown: unknown[] = [];
    process.once('uncaughtException', (error) => thrown.push(error));
    const received: string[] = [];
    client.onEvent(({ type }) => {
      if (type === 'agent_start') throw new Error('mine');
    });
    client.onEvent(({ type }) => received.push(type));

    emit({ type: 'agent_start' }, { type: 'turn_start' });
    await delivered();

    expect(received).toEqual(['agent_start', 'turn_start']);
    expect(thrown).toEqual([new Error('mine')]);
  });

  it('[V8] can be read one by one, after the connection has closed', async () => {
    const { client, emit, agent } = connect();
    const events = client.events();

    emit({ type: 'agent_start' }, { type: 'turn_start' }, { type: 'turn_end' });
    await delivered();
    agent.close();
    const read: string[] = [];
    for await (const { type } of events) read.push(type);

    expect(read).toEqual(['agent_start', 'turn_start', 'turn_end']);
  });

  it('[V8] resolve several reads that were pending before they arrived', async () => {
    const { client, emit } = connect();
    const events = client.events();
    const reads = [events.next(), events.next(), events.next()];

    emit({ type: 'agent_start' }, { type: 'turn_start' });
    const first = await Promise.all(reads.slice(0, 2));
    client.close();

    expect(first).toEqual([
      { done: false, value: { type: 'agent_start' } },
      { done: false, value: { type: 'turn_start' } },
    ]);
    expect(await reads[2]).toEqual({ done: true, value: undefined });
  });

  it('[V8] stop for the iterator that returned, and for no other', async () => {
    const { client, emit } = connect();
    const active = client.events();
    const stopped = client.events();

    emit({ type: 'agent_start' });
    for await (const _ of stopped) break;
    emit({ type: 'turn_start' });

    expect(await stopped.next()).toEqual({ done: true, value: undefined });
    expect(await active.next()).toMatchObject({ value: { type: 'agent_start' } });
    expect(await active.next()).toMatchObject({ value: { type: 'turn_start' } });
  });
});

describe('an unread iterator', () => {
  // Emits events in pairs, until the last exceed the limit.
  const flood = async (emit: (...records: object[]) => void) => {
    for (let length = 0; length <= MAX_UNREAD_CHARACTERS; length += MEGABYTES.length) {
      emit({ type: 'flood', text: MEGABYTES }, { type: 'flood', text: MEGABYTES });
      await delivered();
    }
    emit({ type: 'agent_end' });
    await delivered();
  };

  it('[V8] fails once and drops its events', async () => {
    const { client, emit } = connect();
    const events = client.events();

    await flood(emit);
    emit({ type: 'agent_start' });

    await expect(events.next()).rejects.toBeInstanceOf(EventsLost);
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });

  it('[V8] keeps no event from listeners or from an iterator that is read', async () => {
    const { client, emit } = connect();
    const received: string[] = [];
    client.onEvent(({ type }) => received.push(type));
    client.events();
    const read: string[] = [];
    const reading = (async () => {
      for await (const { type } of client.events()) {
        read.push(type);
        if (type === 'agent_end') return;
      }
    })();

    await flood(emit);
    await reading;

    expect(received.at(-1)).toBe('agent_end');
    expect(read).toEqual(received);
  });
});

describe('closing', () => {
  it('[V11] calls every close listener and closes the link, even when one listener throws', async () => {
    const failures: unknown[] = [];
    const onFailure = (error: unknown) => failures.push(error);
    process.once('uncaughtException', onFailure);
    const { client, agent } = connect();
    const reasons: string[] = [];
    client.onClose(() => {
      throw new Error('mine');
    });
    client.onClose(({ message }) => reasons.push(message));
    const closed = new Promise<void>((resolve) => agent.onClose(() => resolve()));

    client.close();
    await closed;
    await delivered();

    expect(reasons).toEqual(['The client was closed']);
    expect(failures).toEqual([new Error('mine')]);
  });
});

describe('a lost connection', () => {
  it('[V11] rejects every pending and every later call', async () => {
    const { client, respond, agent } = connect();
    const events = client.events();
    const waiting = [client.getState(), client.waitIdle(), client.promptAndWait('a'), client.promptAndWait('b')];
    const outcomes = Promise.allSettled(waiting);
    respond('req_3', { data: { disposition: 'started', runId: 'r1' } });
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

  it('[V11] calls each close listener once, late ones at once and removed ones never', async () => {
    const { client, agent } = connect();
    const reasons: string[] = [];
    client.onClose(() => reasons.push('early'));
    client.onClose(() => reasons.push('never'))();

    agent.close();
    await delivered();
    client.close();
    client.onClose((error) => reasons.push(error.name));

    expect(reasons).toEqual(['early', 'ConnectionLost']);
  });

  it('[V11] is reported by close() too', async () => {
    const { client } = connect();
    const call = client.getState();

    client.close();

    await expect(call).rejects.toThrow('The client was closed');
  });
});

describe('frames', () => {
  it('[V5] are sent unchanged and use no command id', async () => {
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
