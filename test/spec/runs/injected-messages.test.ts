import { expect, it } from 'vitest';
import type { SessionHooks } from '../../../src/index.ts';
import { type InjectedMessage, MAX_INJECTED } from '../../../src/session/input/injected-messages.ts';
import type { Acceptance } from '../../../src/session/input/submissions.ts';
import type { Session } from '../../../src/session/session.ts';
import { openSession } from '../../support/agent/bare-session.ts';
import { neverReturns } from '../../support/agent/hooked-agent.ts';
import { newGate } from '../../support/agent/test-agent.ts';
import { briefs } from '../../support/sessions/session-tree.ts';

const injected = (content: string): InjectedMessage => ({ customType: 'note', content, display: true });

/** Starts the accepted run, waits until the session is idle and returns the last run. */
async function runToEnd(session: Session, acceptance: Acceptance | Promise<Acceptance>) {
  (await acceptance).begin?.();
  await session.idle();
  return session.lastRun;
}

const conversation = (session: Session) => briefs(session.transcript.messages);

/** Calls `work` once, at the first event or message step of this type. */
const onceAt = (type: string, work: () => void): SessionHooks => {
  let isDone = false;
  return {
    observe: async (event) => {
      const step = event.type === 'message_update' ? event.assistantMessageEvent.type : event.type;
      if (step !== type || isDone) return;
      isDone = true;
      work();
    },
  };
};

it('a message injected between runs is stored and published at once, without a model call', async () => {
  const { session, events } = await openSession([{ text: 'never' }]);

  const { accepted, begin } = session.inject({ ...injected('by the way'), details: { n: 1 } });

  const message = {
    role: 'custom',
    customType: 'note',
    content: 'by the way',
    display: true,
    details: { n: 1 },
    timestamp: expect.any(Number),
  };
  expect([accepted, begin, session.run]).toEqual([{ disposition: 'handled' }, undefined, undefined]);
  expect(session.log.entries()).toMatchObject([{ type: 'custom_message', content: 'by the way', details: { n: 1 } }]);
  expect(events.filter(({ type }) => type !== 'entry_appended')).toEqual([
    { type: 'message_start', message },
    { type: 'message_end', message },
  ]);
});

it('an injected message with triggerTurn opens a run', async () => {
  const { session, events } = await openSession([{ text: 'heard' }]);

  const acceptance = session.inject(injected('answer this'), { triggerTurn: true });
  expect(acceptance.accepted).toEqual({ disposition: 'started', runId: session.run?.id });
  expect(await runToEnd(session, acceptance)).toMatchObject({ outcome: 'ok' });

  expect(conversation(session)).toEqual(['custom: answer this', 'assistant: heard']);
  expect(events.filter(({ type }) => type !== 'message_update' && type !== 'entry_appended')).toMatchObject([
    { type: 'agent_start' },
    { type: 'turn_start' },
    { type: 'message_start', message: { role: 'custom' } },
    { type: 'message_end', message: { role: 'custom' } },
    { type: 'message_start', message: { role: 'assistant' } },
    { type: 'message_end' },
    { type: 'turn_end' },
    { type: 'agent_end' },
    { type: 'agent_settled' },
  ]);
});

it('an injected message with triggerTurn is rejected without a model, and nothing is stored', async () => {
  const { session } = await openSession([]);
  session.choice = { model: null, thinkingLevel: 'off', notice: 'There is no model' };

  expect(() => session.inject(injected('anybody?'), { triggerTurn: true })).toThrow('There is no model');

  expect(session.log.size).toBe(0);
});

it('messages injected during a run precede the next model call, in order', async () => {
  const { session, events } = await openSession(
    [{ text: 'one' }, { text: 'two' }],
    onceAt('turn_end', () => {
      session.inject(injected('first'));
      session.inject(injected('second'), { deliverAs: 'steer', triggerTurn: true });
    }),
  );

  await runToEnd(session, session.prompt({ message: 'go' }));

  expect(conversation(session)).toEqual([
    'user: go',
    'assistant: one',
    'custom: first',
    'custom: second',
    'assistant: two',
  ]);
  expect(events.filter(({ type }) => type === 'agent_start')).toHaveLength(1);
  expect(events.filter(({ type }) => type === 'queue_update')).toEqual([]);
});

it('a message injected as followUp is delivered when the run would end', async () => {
  const { session } = await openSession(
    [{ text: 'one' }, { text: 'two' }, { text: 'three' }],
    onceAt('turn_start', () => {
      session.inject(injected('at last'), { deliverAs: 'followUp' });
      session.inject(injected('soon'), { deliverAs: 'steer' });
    }),
  );

  await runToEnd(session, session.prompt({ message: 'go' }));

  expect(conversation(session)).toEqual([
    'user: go',
    'custom: soon',
    'assistant: one',
    'custom: at last',
    'assistant: two',
  ]);
});

it('injected messages and queued client messages do not delay one another', async () => {
  const { session } = await openSession(
    [{ text: 'one' }, { text: 'two' }, { text: 'three' }],
    onceAt('turn_end', () => {
      session.inject(injected('first'));
      session.queue.add('steer', { text: 'a', images: [] }, undefined);
      session.queue.add('steer', { text: 'b', images: [] }, undefined);
      session.inject(injected('second'));
    }),
  );

  await runToEnd(session, session.prompt({ message: 'go' }));

  expect(conversation(session)).toEqual([
    'user: go',
    'assistant: one',
    'user: a',
    'custom: first',
    'custom: second',
    'assistant: two',
    'user: b',
    'assistant: three',
  ]);
});

it('a message injected for nextTurn waits for the next prompt and follows it directly', async () => {
  const { session, events } = await openSession([{ text: 'one' }, { text: 'two' }, { text: 'three' }]);
  session.inject(injected('first'), { deliverAs: 'nextTurn', triggerTurn: true });
  session.inject(injected('second'), { deliverAs: 'nextTurn' });

  await runToEnd(session, session.inject(injected('beside'), { triggerTurn: true }));
  await runToEnd(session, session.prompt({ message: 'go' }));
  await runToEnd(session, session.prompt({ message: 'on' }));

  expect(conversation(session)).toEqual([
    'custom: beside',
    'assistant: one',
    'user: go',
    'custom: first',
    'custom: second',
    'assistant: two',
    'user: on',
    'assistant: three',
  ]);
  const endedMessages = events.flatMap((event) => (event.type === 'message_end' ? [event.message] : []));
  expect(briefs(endedMessages)).toEqual(conversation(session));
});

it.each(['steer', 'followUp'] as const)(
  'an abort keeps a message injected as %s for the next run',
  async (deliverAs) => {
    const { session } = await openSession(
      [{ steps: [{ text: 'one' }, { stall: true }] }, { text: 'two' }, { text: 'three' }],
      onceAt('text_delta', () => {
        session.inject(injected('first'), { deliverAs });
        session.inject(injected('second'), { deliverAs });
        void session.abort({ clearQueue: true });
      }),
    );

    const stopped = await runToEnd(session, session.prompt({ message: 'go' }));
    const after = conversation(session);
    await runToEnd(session, session.prompt({ message: 'on' }));

    expect(stopped).toMatchObject({ outcome: 'aborted' });
    expect(after).toEqual(['user: go', 'assistant: one']);
    const waiting = ['custom: first', 'custom: second'];
    expect(conversation(session).slice(2)).toEqual(
      deliverAs === 'steer'
        ? ['user: on', ...waiting, 'assistant: two']
        : ['user: on', 'assistant: two', ...waiting, 'assistant: three'],
    );
  },
);

it('a failed run keeps injected messages for the next one', async () => {
  const { session } = await openSession(
    [{ steps: [{ text: 'one' }, { error: { status: 400 } }] }, { text: 'two' }],
    onceAt('text_delta', () => session.inject(injected('still here'))),
  );

  const failed = await runToEnd(session, session.prompt({ message: 'go' }));
  await runToEnd(session, session.prompt({ message: 'on' }));

  expect(failed).toMatchObject({ outcome: 'error' });
  expect(conversation(session).slice(2)).toEqual(['user: on', 'custom: still here', 'assistant: two']);
});

it('a run that reaches its limit keeps injected messages for the next one', async () => {
  const { session } = await openSession(
    [{ text: 'one' }, { text: 'two' }],
    onceAt('turn_end', () => session.inject(injected('more'))),
  );

  const first = await runToEnd(session, session.prompt({ message: 'go', limits: { turns: 1 } }));
  await runToEnd(session, session.prompt({ message: 'on' }));

  expect(first).toMatchObject({ outcome: 'budget' });
  expect(conversation(session).slice(2)).toEqual(['user: on', 'custom: more', 'assistant: two']);
});

it('a message injected with triggerTurn at agent_settled opens the next run', async () => {
  let next: Acceptance | undefined;
  const { session } = await openSession([{ text: 'one' }, { text: 'two' }], {
    observe: (event) => {
      if (event.type === 'agent_settled') next ??= session.inject(injected('go on'), { triggerTurn: true });
      return undefined;
    },
  });
  await runToEnd(session, session.prompt({ message: 'go' }));

  expect(next?.accepted).toMatchObject({ disposition: 'started' });
  await runToEnd(session, next ?? session.inject(injected('never')));

  expect(conversation(session)).toEqual(['user: go', 'assistant: one', 'custom: go on', 'assistant: two']);
});

it('more than MAX_INJECTED waiting messages are rejected as overloaded', async () => {
  const { session } = await openSession([{ text: 'one' }]);
  for (let n = 0; n < MAX_INJECTED; n++) session.inject(injected(`${n}`), { deliverAs: 'nextTurn' });

  expect(() => session.inject(injected('too many'), { deliverAs: 'nextTurn' })).toThrow(
    expect.objectContaining({ code: 'overloaded' }),
  );

  await runToEnd(session, session.prompt({ message: 'go' }));
  expect(conversation(session)).toHaveLength(MAX_INJECTED + 2);
  expect(conversation(session).at(-2)).toBe(`custom: ${MAX_INJECTED - 1}`);
});

it('the input hook gets the source of a prompt, and expand:false keeps the text as it is', async () => {
  const seen: unknown[] = [];
  const { session } = await openSession([{ text: 'one' }, { text: 'two' }, { text: 'three' }], {
    input: async ({ source }) => void seen.push(source),
    expand: async ({ images }) => ({ text: 'expanded', images }),
  });

  await runToEnd(session, session.prompt({ message: '/go' }));
  await runToEnd(session, session.prompt({ message: '/go' }, { source: 'extension', expand: false }));
  await runToEnd(session, session.prompt({ message: '/go' }, { source: 'interactive' }));

  expect(seen).toEqual(['rpc', 'extension', 'interactive']);
  expect(conversation(session).filter((line) => line.startsWith('user'))).toEqual([
    'user: expanded',
    'user: /go',
    'user: expanded',
  ]);
});

it('a run that starts during a branch summary rejects the navigation and keeps the leaf', async () => {
  const gate = newGate();
  const { session } = await openSession([
    { text: 'one' },
    { steps: [{ await: gate.path }, { text: 'short' }], when: '<conversation>' },
    { stall: true },
  ]);
  await runToEnd(session, session.prompt({ message: 'go' }));
  const [first] = session.log.entries();
  const leaf = session.log.leafId;
  const navigation = session.navigate(first?.id ?? '', { summarize: true });
  const busy = session.navigate(first?.id ?? '').catch((error: unknown) => error);
  const { begin } = session.inject(injected('meanwhile'), { triggerTurn: true });
  begin?.();
  gate.open();

  await expect(navigation).rejects.toMatchObject({ code: 'agent_busy' });
  expect(await busy).toMatchObject({ code: 'agent_busy' });
  expect(session.log.parentOf(session.log.entries().at(-1)?.id ?? '')).toBe(leaf);
  await session.abort();
});

it('a compaction cancels a navigation', async () => {
  const { called, wait } = neverReturns();
  const { session } = await openSession([{ text: 'one' }], { beforeTree: wait });
  await runToEnd(session, session.prompt({ message: 'go' }));
  const [first] = session.log.entries();
  const navigation = session.navigate(first?.id ?? '');
  await called;

  await expect(session.compact(undefined)).rejects.toMatchObject({ code: 'not_found' });

  expect(await navigation).toEqual({ cancelled: true });
});

it('a navigation during a compaction is rejected, and the compaction continues', async () => {
  const { called, wait } = neverReturns();
  const { session } = await openSession([{ text: 'one' }, { text: 'two' }], { beforeCompact: wait });
  for (const _round of [1, 2]) await runToEnd(session, session.prompt({ message: 'word '.repeat(40_000) }));
  const [first] = session.log.entries();
  const compacted = session.compact(undefined).catch((error: unknown) => error);
  await called;

  await expect(session.navigate(first?.id ?? '')).rejects.toMatchObject({ code: 'agent_busy' });

  expect(session.compactor.isBusy).toBe(true);
  await session.abort();
  expect(await compacted).toMatchObject({ message: 'Compaction cancelled' });
});

it('[J9] closing messages are synced to disk before the run settles', async () => {
  const order: string[] = [];
  const { session } = await openSession(
    [{ text: 'done' }],
    onceAt('text_delta', () => void session.inject(injected('by the way'), { triggerTurn: false })),
  );
  const { log } = session;
  const [append, sync] = [log.append.bind(log), log.sync.bind(log)];
  log.append = (...args) => {
    order.push(args[0].type);
    return append(...args);
  };
  log.sync = async () => {
    const before = order.length;
    await sync();
    order.splice(before, 0, 'sync');
  };

  await runToEnd(session, session.prompt({ message: 'go' }));

  expect(order.at(-1)).toBe('sync');
  expect(order).toContain('custom_message');
});
