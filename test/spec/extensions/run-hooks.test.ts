import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  callBash,
  customMessage,
  messagesOfRole,
  neverReturns,
  openWithHooks,
  rolesOf,
} from '../../support/agent/hooked-agent.ts';
import { filterAlive } from '../../support/processes/processes.ts';

it.each([
  'context',
  'beforeRequest',
  'delta',
  'toolCall',
  'toolResult',
  'messageEnd',
  'turnEnd',
  'observe',
  'systemPrompt',
  'beforeAgentStart',
  'beforeSettle',
] as const)('a %s hook that never returns does not delay an abort', async (name) => {
  const { called, wait } = neverReturns();
  const { client } = await openWithHooks({ [name]: wait }, { answers: [callBash, { text: 'done' }] });
  const run = client.promptAndWait('go');
  await called;

  await client.abort();

  expect((await run).settled).toMatchObject({ outcome: 'aborted' });
  expect((await client.getState()).isIdle).toBe(true);
});

it.each(['input', 'expand'] as const)('an abort discards a message that waits in %s', async (name) => {
  const { called, wait } = neverReturns();
  const { client } = await openWithHooks({ [name]: wait });
  const prompt = client.prompt({ message: 'say hello' }).catch((error: unknown) => error);
  await called;

  await client.abort();

  expect(await prompt).toMatchObject({ code: 'agent_busy', message: 'Stopped by an abort before it began' });
  expect(await client.getState()).toMatchObject({ isIdle: true, messageCount: 0 });
});

it('the input hook gets the source of a message and replaces its text', async () => {
  const seen: unknown[] = [];
  const { client } = await openWithHooks({
    input: async (input) => {
      seen.push(input);
      return input.text === 'nothing' ? 'handled' : { ...input, text: `say ${input.text}` };
    },
    expand: async ({ text, images }) => ({ text: `${text}!`, images }),
  });

  const { messages } = await client.promptAndWait('hello');
  const handled = await client.prompt({ message: 'nothing', streamingBehavior: 'followUp' });

  expect(seen).toEqual([
    { text: 'hello', images: [], source: 'rpc', streamingBehavior: undefined },
    { text: 'nothing', images: [], source: 'rpc', streamingBehavior: 'followUp' },
  ]);
  expect(JSON.stringify(messages[0])).toContain('say hello!');
  expect(handled).toEqual({ disposition: 'handled' });
});

it('observe gets each event before the clients, and agent_settled after them', async () => {
  const order: string[] = [];
  let settle = () => {};
  const observedSettle = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const { client } = await openWithHooks(
    {
      observe: async ({ type }) => {
        order.push(`observed ${type}`);
        if (type === 'agent_settled') settle();
      },
    },
    { answers: [callBash, { text: 'done' }] },
  );
  client.onEvent(({ type }) => order.push(`sent ${type}`));

  await client.promptAndWait('go');
  await observedSettle;

  const typesSeenBy = (prefix: string) =>
    order
      .filter((line) => line.startsWith(prefix) && !line.endsWith('_update'))
      .map((line) => line.slice(prefix.length));
  expect(typesSeenBy('observed ')).toEqual(typesSeenBy('sent '));
  for (const type of ['agent_start', 'message_end', 'tool_execution_start', 'turn_end', 'agent_end']) {
    expect(order.indexOf(`observed ${type}`), type).toBeLessThan(order.indexOf(`sent ${type}`));
  }
});

it('observe gets agent_settled after the run, so that a prompt opens the next run', async () => {
  let next: Promise<unknown> | undefined;
  const { client } = await openWithHooks(
    {
      observe: async ({ type }) => {
        if (type === 'agent_settled') next ??= client.prompt({ message: 'say more' });
      },
    },
    { answers: [{ text: 'one' }, { text: 'two' }] },
  );

  await client.promptAndWait('go');

  expect(await next).toMatchObject({ disposition: 'started' });
});

it('an observer that throws at agent_settled changes nothing', async () => {
  const { client } = await openWithHooks(
    {
      observe: ({ type }) => {
        if (type === 'agent_settled') throw new Error('too late');
        return undefined;
      },
    },
    { answers: [{ text: 'one' }, { text: 'two' }] },
  );

  for (const message of ['go', 'again']) {
    expect((await client.promptAndWait(message)).settled).toMatchObject({ outcome: 'ok' });
  }
});

it('a run whose observer fails during a tool settles when the tool has stopped', async () => {
  const { client, home } = await openWithHooks(
    {
      observe: async (event) => {
        if (event.type === 'tool_execution_update' && JSON.stringify(event.partialResult).includes('started'))
          throw new Error('broke');
      },
    },
    {
      answers: [
        { steps: [{ toolCall: { name: 'bash', arguments: { command: 'echo $$ > pid; echo started; sleep 1000' } } }] },
      ],
    },
  );

  const { settled } = await client.promptAndWait('go');

  expect(settled).toMatchObject({ outcome: 'error', errorMessage: 'broke' });
  expect(await filterAlive([Number(readFileSync(join(home.cwd, 'pid'), 'utf8'))])).toEqual([]);
});

it('a rejection of observe fails the run, which still settles', async () => {
  const { client } = await openWithHooks({
    observe: async ({ type }) => {
      if (type === 'turn_end') throw new Error('observer broke');
    },
  });

  const { settled } = await client.promptAndWait('say hello');

  expect(settled).toMatchObject({ outcome: 'error', errorCode: 'internal', errorMessage: 'observer broke' });
});

it('beforeAgentStart adds messages and a system prompt to one run', async () => {
  const prompts: string[] = [];
  const starts: unknown[] = [];
  const { client } = await openWithHooks(
    {
      systemPrompt: async (prompt) => `${prompt}\nmore`,
      beforeAgentStart: async (start) => {
        starts.push(start);
        return starts.length === 1 ? { messages: [customMessage('by the way')], systemPrompt: 'only this' } : undefined;
      },
      beforeRequest: async (request) => {
        prompts.push(request.systemPrompt);
        return undefined;
      },
    },
    { answers: [callBash, { text: 'one' }, { text: 'two' }] },
  );

  const { messages } = await client.promptAndWait('go');
  await client.promptAndWait('again');

  expect(rolesOf(messages)).toEqual(['user', 'custom', 'assistant', 'toolResult', 'assistant']);
  expect(starts).toHaveLength(2);
  expect(starts[0]).toMatchObject({ messages: [{ role: 'user' }], systemPrompt: expect.stringContaining('\nmore') });
  expect(prompts).toEqual(['only this', 'only this', expect.stringMatching(/\nmore$/)]);
  const { entries } = await client.getEntries();
  expect(entries).toContainEqual(expect.objectContaining({ type: 'custom_message', content: 'by the way' }));
});

it('context and beforeRequest replace the messages sent to the model', async () => {
  const called: unknown[] = [];
  const { client } = await openWithHooks({
    context: async (messages) => {
      for (const message of messages) message.timestamp = 0;
      return [...messages, { role: 'user', content: 'say something else', timestamp: 1 }];
    },
    beforeRequest: async (request) => {
      called.push(request.messages.at(-1)?.content);
      return { ...request, messages: [{ role: 'user', content: 'say the last word', timestamp: 1 }] };
    },
  });

  const { messages } = await client.promptAndWait('say hello');

  expect(called).toEqual(['say something else']);
  expect((await client.getMessages()).messages[0]?.timestamp).not.toBe(0);
  expect(messagesOfRole(messages, 'assistant').join()).toContain('the last word');
  expect(messagesOfRole(messages, 'user')).toEqual([expect.stringContaining('say hello')]);
});

it('messageEnd replaces messages before they are stored', async () => {
  const { client } = await openWithHooks(
    {
      messageEnd: async (message) => ({ ...message, content: [{ type: 'text', text: `${message.role} replaced` }] }),
    },
    { answers: [{ text: 'said' }] },
  );
  const { messages } = await client.promptAndWait('go');

  expect(messages[1]).toMatchObject({ content: [{ text: 'assistant replaced' }] });
  expect((await client.getMessages()).messages[1]).toMatchObject({ content: [{ text: 'assistant replaced' }] });
});

it('toolCall replaces the arguments, which toolResult gets', async () => {
  const ended: unknown[] = [];
  const { client } = await openWithHooks(
    {
      toolCall: async () => ({ args: { command: 'echo other' } }),
      toolResult: async ({ args, call, result }) => {
        ended.push([call.arguments, args, result.isError]);
        return { content: [{ type: 'text', text: 'reviewed' }], isError: true };
      },
    },
    { answers: [callBash, { text: 'done' }] },
  );

  const { messages } = await client.promptAndWait('go');

  expect(ended).toEqual([[{ command: 'echo hi' }, { command: 'echo other' }, false]]);
  expect(messages[2]).toMatchObject({ content: [{ text: 'reviewed' }], isError: true });
});

it('a toolCall that throws blocks the call; a toolResult that throws has no effect', async () => {
  let blocks = true;
  const { client } = await openWithHooks(
    {
      toolCall: () => {
        if (blocks) throw new Error('not today');
        return Promise.resolve(undefined);
      },
      toolResult: () => {
        throw new Error('at once');
      },
    },
    { answers: [callBash, { text: 'one' }, callBash, { text: 'two' }] },
  );

  const refused = await client.promptAndWait('go');
  blocks = false;
  const allowed = await client.promptAndWait('go');

  expect(refused.messages[2]).toMatchObject({ content: [{ text: 'not today' }], isError: true });
  expect(allowed.messages[2]).toMatchObject({ content: [{ text: 'hi\n' }], isError: false });
});

it('delta aborts a message, and the run continues with its messages', async () => {
  const { client } = await openWithHooks(
    {
      delta: (step) =>
        step.type === 'text_delta' && step.delta.includes('wrong')
          ? { reason: 'matched a rule', messages: [customMessage('mind the rule')] }
          : undefined,
    },
    { answers: [{ steps: [{ text: 'wrong' }, callBash.steps[0]] }, { text: 'right' }] },
  );

  const { settled, messages, events } = await client.promptAndWait('go');

  expect(settled).toMatchObject({ outcome: 'ok' });
  expect(rolesOf(messages)).toEqual(['user', 'assistant', 'custom', 'assistant']);
  expect(messages[1]).toMatchObject({
    stopReason: 'aborted',
    errorMessage: 'matched a rule',
    content: [{ text: 'wrong' }],
  });
  expect(messages[3]).toMatchObject({ stopReason: 'stop', content: [{ text: 'right' }] });
  expect(events.filter(({ type }) => type === 'agent_end')).toHaveLength(1);
});

it('delta gets the start of a message and can discard it', async () => {
  const steps: string[] = [];
  const { client } = await openWithHooks(
    {
      delta: ({ type }) => {
        steps.push(type);
        return steps.length === 1 ? { reason: 'not now', messages: [], discard: true } : undefined;
      },
    },
    { answers: [{ text: 'one' }, { text: 'two' }] },
  );

  const { messages } = await client.promptAndWait('go');

  expect(steps).toEqual(['start', 'start', 'text_start', 'text_delta', 'text_end']);
  expect(messages[1]).toMatchObject({ stopReason: 'aborted', errorMessage: 'not now' });
  expect(rolesOf((await client.getMessages()).messages)).toEqual(['user', 'assistant']);
});

it.each([
  ['is complete', {}],
  ['has failed', { cut: true }],
])('a message that %s when delta aborts it is still aborted', async (_, last) => {
  const call = { toolCall: { name: 'bash', arguments: { command: 'touch ran' } } };
  let isFirst = true;
  const { client, home } = await openWithHooks(
    {
      delta: ({ type }) => {
        if (type !== 'toolcall_end' || !isFirst) return undefined;
        isFirst = false;
        return { reason: 'no', messages: [customMessage('say it again')] };
      },
    },
    { answers: [{ steps: [call, ...('cut' in last ? [last] : [])] }, { text: 'done' }] },
  );

  const { settled, messages, events } = await client.promptAndWait('go');

  expect(settled).toMatchObject({ outcome: 'ok' });
  expect(rolesOf(messages)).toEqual(['user', 'assistant', 'custom', 'assistant']);
  expect(messages[1]).toMatchObject({ stopReason: 'aborted', errorMessage: 'no' });
  expect(messages[1]).not.toHaveProperty('errorCode');
  expect(events.map(({ type }) => type)).not.toContain('tool_execution_start');
  expect(existsSync(join(home.cwd, 'ran'))).toBe(false);
});

it('turnEnd adds messages and can add a turn', async () => {
  let turns = 0;
  const { client } = await openWithHooks(
    {
      turnEnd: async () => {
        turns++;
        return { messages: [customMessage(`after turn ${turns}`)], continue: turns === 1 };
      },
    },
    { answers: [{ text: 'one' }, { text: 'two' }] },
  );

  const { messages } = await client.promptAndWait('go');

  expect(rolesOf(messages)).toEqual(['user', 'assistant', 'custom', 'assistant', 'custom']);
  expect(turns).toBe(2);
});

it('beforeSettle continues a run as long as it returns `continue`', async () => {
  const ends: unknown[] = [];
  const { client } = await openWithHooks(
    {
      beforeSettle: async (end) => {
        ends.push(end.outcome);
        return { messages: [customMessage(`after ${ends.length}`)], continue: ends.length < 3 };
      },
    },
    { answers: [{ text: 'one' }, { text: 'two' }, { text: 'three' }] },
  );

  const { events, messages } = await client.promptAndWait('go');

  expect(rolesOf(messages)).toEqual(['user', 'assistant', 'custom', 'assistant', 'custom', 'assistant', 'custom']);
  const agentEnds = events.filter(({ type }) => type === 'agent_end');
  expect(agentEnds.map((event) => 'isTerminal' in event && event.isTerminal)).toEqual([false, false, true]);
  expect(events.filter(({ type }) => type === 'agent_settled')).toHaveLength(1);
  expect(ends).toEqual(['ok', 'ok', 'ok']);
});

it.each(['turnEnd', 'beforeSettle'] as const)('messages of %s alone cause no model call', async (name) => {
  const { client } = await openWithHooks(
    { [name]: async () => ({ messages: [customMessage('one more thing')] }) },
    { answers: [{ text: 'one' }, { text: 'never' }] },
  );

  const { events, messages } = await client.promptAndWait('go');

  expect(rolesOf(messages)).toEqual(['user', 'assistant', 'custom']);
  expect(rolesOf((await client.getMessages()).messages)).toEqual(['user', 'assistant', 'custom']);
  expect(events.filter(({ type }) => type === 'turn_start')).toHaveLength(1);
});

it.each(['turnEnd', 'beforeSettle'] as const)('%s continues a run without messages', async (name) => {
  let called = 0;
  const { client } = await openWithHooks(
    { [name]: async () => (++called === 1 ? { continue: true } : undefined) },
    { answers: [{ text: 'one' }, { text: 'two' }, { text: 'never' }] },
  );

  const { messages, settled } = await client.promptAndWait('go');

  expect(rolesOf(messages)).toEqual(['user', 'assistant', 'assistant']);
  expect(settled).toMatchObject({ outcome: 'ok' });
  expect(called).toBe(2);
});

it('beforeSettle cannot continue a failed run', async () => {
  const { client } = await openWithHooks(
    { beforeSettle: async () => ({ messages: [customMessage('a last word')], continue: true }) },
    { answers: [{ error: { status: 400 } }, { text: 'never' }] },
  );

  const { settled, messages } = await client.promptAndWait('go');

  expect(settled).toMatchObject({ outcome: 'error' });
  expect(rolesOf(messages)).toEqual(['user', 'assistant', 'custom']);
});

it('beforeSettle cannot continue an aborted run', async () => {
  const { called, wait } = neverReturns();
  const { client } = await openWithHooks(
    { toolCall: wait, beforeSettle: async () => ({ continue: true }) },
    { answers: [callBash, { text: 'never' }] },
  );
  const run = client.promptAndWait('go');
  await called;

  await client.abort();

  expect((await run).settled).toMatchObject({ outcome: 'aborted' });
});

it.each([
  ['delta', () => ({ reason: 'no', messages: [] })],
  ['turnEnd', async () => ({ continue: true })],
  ['beforeSettle', async () => ({ continue: true })],
])('a run that %s never lets end can be aborted', async (name, hook) => {
  const { client } = await openWithHooks({ [name]: hook }, { answers: [{ text: 'hm' }, { repeat: true }] });
  const run = client.promptAndWait('go');
  await new Promise((resolve) => setImmediate(resolve));

  await client.abort();

  expect((await run).settled).toMatchObject({ outcome: 'aborted' });
});

it('[J9] messages of beforeSettle are synced to disk before the run settles', async () => {
  const order: string[] = [];
  const { SessionLog } = await import('../../../src/store/sessions/session-log.ts');
  const { append, sync } = SessionLog.prototype;
  onTestFinished(() => void Object.assign(SessionLog.prototype, { append, sync }));
  SessionLog.prototype.append = function (draft) {
    order.push(draft.type);
    return append.call(this, draft);
  };
  SessionLog.prototype.sync = function () {
    order.push('sync');
    return sync.call(this);
  };
  const { client } = await openWithHooks(
    { beforeSettle: async () => ({ messages: [customMessage('one more thing')] }) },
    { answers: [{ text: 'done' }] },
  );

  await client.promptAndWait('go');

  expect(order.lastIndexOf('sync')).toBeGreaterThan(order.lastIndexOf('custom_message'));
});

it('[P32] an abort during turn_start leaves the messages of that turn in the queue', async () => {
  const reached = neverReturns();
  let turns = 0;
  const { client } = await openWithHooks(
    {
      turnEnd: async () => void (await client.steer({ message: 'later' })),
      observe: (event) => (event.type === 'turn_start' && ++turns === 2 ? reached.wait() : undefined),
    },
    { answers: [callBash, { text: 'done' }] },
  );
  const run = client.promptAndWait('go');
  await reached.called;

  await client.abort();

  expect((await run).settled).toMatchObject({ outcome: 'aborted' });
  expect(await client.getState()).toMatchObject({ isIdle: true, pendingMessageCount: 1 });
});

it('closing the agent discards a message that waits in a hook', async () => {
  const entered = neverReturns();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { client, close, home } = await openWithHooks({
    input: async () => {
      void entered.wait();
      await held;
      return undefined;
    },
    sessionShutdown: async () => release(),
  });
  const prompt = client.prompt({ message: 'write proof.txt: done' }).catch((error: unknown) => error);
  await entered.called;

  await close();

  expect(await prompt).toBeInstanceOf(Error);
  expect(existsSync(join(home.cwd, 'proof.txt'))).toBe(false);
});
