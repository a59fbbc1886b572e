import { expect, it } from 'vitest';
import type { SessionHooks } from '../../../src/index.ts';
import { type InjectedMessage, MAX_INJECTED } from '../../../src/session/input/injected-messages.ts';
import type { Acceptance, Session } from '../../../src/session/session.ts';
import { neverReturns } from '../../support/agent/hooked-agent.ts';
import { newGate } from '../../support/agent/test-agent.ts';
import { openSession } from '../../support/agent/bare-session.ts';
import { briefs } from '../../support/sessions/session-tree.ts';

const aside = (content: string): InjectedMessage => ({ customType: 'note', content, display: true });

/** Does what was accepted, to its end. */
async function finished(session: Session, acceptance: Acceptance | Promise<Acceptance>) {
  (await acceptance).begin?.();
  await session.idle();
  return session.lastRun;
}

const conversation = (session: Session) => briefs(session.transcript.messages);

/** Does this as soon as the run has come to such an event, or to such a step of an answer. */
const when = (type: string, work: () => void): SessionHooks => {
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

it('between runs it is stored and told at once, and asks no model', async () => {
  const { session, events } = await openSession([{ text: 'never' }]);

  const { accepted, begin } = session.inject({ ...aside('by the way'), details: { n: 1 } });

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

it('with triggerTurn it opens a run', async () => {
  const { session, events } = await openSession([{ text: 'heard' }]);

  const acceptance = session.inject(aside('answer this'), { triggerTurn: true });
  expect(acceptance.accepted).toEqual({ disposition: 'started', runId: session.run?.id });
  expect(await finished(session, acceptance)).toMatchObject({ outcome: 'ok' });

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

it('with triggerTurn and without a model it is refused, and nothing is stored', async () => {
  const { session } = await openSession([]);
  session.choice = { model: null, thinkingLevel: 'off', notice: 'There is no model' };

  expect(() => session.inject(aside('anybody?'), { triggerTurn: true })).toThrow('There is no model');

  expect(session.log.size).toBe(0);
});

it('during a run it comes before the next model call, all that wait in their order', async () => {
  const { session, events } = await openSession(
    [{ text: 'one' }, { text: 'two' }],
    when('turn_end', () => {
      session.inject(aside('first'));
      session.inject(aside('second'), { deliverAs: 'steer', triggerTurn: true });
    }),
  );

  await finished(session, session.prompt({ message: 'go' }));

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

it('as a follow-up it comes when the run would end', async () => {
  const { session } = await openSession(
    [{ text: 'one' }, { text: 'two' }, { text: 'three' }],
    when('turn_start', () => {
      session.inject(aside('at last'), { deliverAs: 'followUp' });
      session.inject(aside('soon'), { deliverAs: 'steer' });
    }),
  );

  await finished(session, session.prompt({ message: 'go' }));

  expect(conversation(session)).toEqual([
    'user: go',
    'custom: soon',
    'assistant: one',
    'custom: at last',
    'assistant: two',
  ]);
});

it('neither holds back nor is held back by what clients have queued', async () => {
  const { session } = await openSession(
    [{ text: 'one' }, { text: 'two' }, { text: 'three' }],
    when('turn_end', () => {
      session.inject(aside('first'));
      session.queue.add('steer', { text: 'a', images: [] }, undefined);
      session.queue.add('steer', { text: 'b', images: [] }, undefined);
      session.inject(aside('second'));
    }),
  );

  await finished(session, session.prompt({ message: 'go' }));

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

it('for the next turn it waits for a prompt, and stands right behind it', async () => {
  const { session, events } = await openSession([{ text: 'one' }, { text: 'two' }, { text: 'three' }]);
  session.inject(aside('first'), { deliverAs: 'nextTurn', triggerTurn: true });
  session.inject(aside('second'), { deliverAs: 'nextTurn' });

  await finished(session, session.inject(aside('beside'), { triggerTurn: true }));
  await finished(session, session.prompt({ message: 'go' }));
  await finished(session, session.prompt({ message: 'on' }));

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
  const told = events.flatMap((event) => (event.type === 'message_end' ? [event.message] : []));
  expect(briefs(told)).toEqual(conversation(session));
});

it.each(['steer', 'followUp'] as const)('an abort keeps a %s for the next run', async (deliverAs) => {
  const { session } = await openSession(
    [{ steps: [{ text: 'one' }, { stall: true }] }, { text: 'two' }, { text: 'three' }],
    when('text_delta', () => {
      session.inject(aside('first'), { deliverAs });
      session.inject(aside('second'), { deliverAs });
      void session.abort({ clearQueue: true });
    }),
  );

  const stopped = await finished(session, session.prompt({ message: 'go' }));
  const after = conversation(session);
  await finished(session, session.prompt({ message: 'on' }));

  expect(stopped).toMatchObject({ outcome: 'aborted' });
  expect(after).toEqual(['user: go', 'assistant: one']);
  const waiting = ['custom: first', 'custom: second'];
  expect(conversation(session).slice(2)).toEqual(
    deliverAs === 'steer'
      ? ['user: on', ...waiting, 'assistant: two']
      : ['user: on', 'assistant: two', ...waiting, 'assistant: three'],
  );
});

it('a run that fails keeps them for the next one', async () => {
  const { session } = await openSession(
    [{ steps: [{ text: 'one' }, { error: { status: 400 } }] }, { text: 'two' }],
    when('text_delta', () => session.inject(aside('still here'))),
  );

  const failed = await finished(session, session.prompt({ message: 'go' }));
  await finished(session, session.prompt({ message: 'on' }));

  expect(failed).toMatchObject({ outcome: 'error' });
  expect(conversation(session).slice(2)).toEqual(['user: on', 'custom: still here', 'assistant: two']);
});

it('a limit of the run keeps them for the next one', async () => {
  const { session } = await openSession(
    [{ text: 'one' }, { text: 'two' }],
    when('turn_end', () => session.inject(aside('more'))),
  );

  const first = await finished(session, session.prompt({ message: 'go', limits: { turns: 1 } }));
  await finished(session, session.prompt({ message: 'on' }));

  expect(first).toMatchObject({ outcome: 'budget' });
  expect(conversation(session).slice(2)).toEqual(['user: on', 'custom: more', 'assistant: two']);
});

it('said when the run is over it opens the next one', async () => {
  let next: Acceptance | undefined;
  const { session } = await openSession([{ text: 'one' }, { text: 'two' }], {
    observe: (event) => {
      if (event.type === 'agent_settled') next ??= session.inject(aside('go on'), { triggerTurn: true });
      return undefined;
    },
  });
  await finished(session, session.prompt({ message: 'go' }));

  expect(next?.accepted).toMatchObject({ disposition: 'started' });
  await finished(session, next ?? session.inject(aside('never')));

  expect(conversation(session)).toEqual(['user: go', 'assistant: one', 'custom: go on', 'assistant: two']);
});

it('only so many may wait', async () => {
  const { session } = await openSession([{ text: 'one' }]);
  for (let n = 0; n < MAX_INJECTED; n++) session.inject(aside(`${n}`), { deliverAs: 'nextTurn' });

  expect(() => session.inject(aside('too many'), { deliverAs: 'nextTurn' })).toThrow(
    expect.objectContaining({ code: 'overloaded' }),
  );

  await finished(session, session.prompt({ message: 'go' }));
  expect(conversation(session)).toHaveLength(MAX_INJECTED + 2);
  expect(conversation(session).at(-2)).toBe(`custom: ${MAX_INJECTED - 1}`);
});

it('the hook hears where a prompt comes from, and words can be taken as they are', async () => {
  const seen: unknown[] = [];
  const { session } = await openSession([{ text: 'one' }, { text: 'two' }, { text: 'three' }], {
    input: async ({ source }) => void seen.push(source),
    expand: async ({ images }) => ({ text: 'expanded', images }),
  });

  await finished(session, session.prompt({ message: '/go' }));
  await finished(session, session.prompt({ message: '/go' }, { source: 'extension', expand: false }));
  await finished(session, session.prompt({ message: '/go' }, { source: 'interactive' }));

  expect(seen).toEqual(['rpc', 'extension', 'interactive']);
  expect(conversation(session).filter((line) => line.startsWith('user'))).toEqual([
    'user: expanded',
    'user: /go',
    'user: expanded',
  ]);
});

it('a run that begins while a summary is written keeps the conversation where it is', async () => {
  const gate = newGate();
  const { session } = await openSession([
    { text: 'one' },
    { steps: [{ await: gate.path }, { text: 'short' }], when: '<conversation>' },
    { stall: true },
  ]);
  await finished(session, session.prompt({ message: 'go' }));
  const [first] = session.log.entries();
  const leaf = session.log.leafId;
  const gone = session.navigate(first?.id ?? '', { summarize: true });
  const busy = session.navigate(first?.id ?? '').catch((error: unknown) => error);
  const { begin } = session.inject(aside('meanwhile'), { triggerTurn: true });
  begin?.();
  gate.open();

  await expect(gone).rejects.toMatchObject({ code: 'agent_busy' });
  expect(await busy).toMatchObject({ code: 'agent_busy' });
  expect(session.log.parentOf(session.log.entries().at(-1)?.id ?? '')).toBe(leaf);
  await session.abort();
});

it('a compaction stops a navigation', async () => {
  const { called, wait } = neverReturns();
  const { session } = await openSession([{ text: 'one' }], { beforeTree: wait });
  await finished(session, session.prompt({ message: 'go' }));
  const [first] = session.log.entries();
  const gone = session.navigate(first?.id ?? '');
  await called;

  await expect(session.compact(undefined)).rejects.toMatchObject({ code: 'not_found' });

  expect(await gone).toEqual({ cancelled: true });
});

it('a navigation does not stop a compaction', async () => {
  const { called, wait } = neverReturns();
  const { session } = await openSession([{ text: 'one' }, { text: 'two' }], { beforeCompact: wait });
  for (const _round of [1, 2]) await finished(session, session.prompt({ message: 'word '.repeat(40_000) }));
  const [first] = session.log.entries();
  const compacted = session.compact(undefined).catch((error: unknown) => error);
  await called;

  await expect(session.navigate(first?.id ?? '')).rejects.toMatchObject({ code: 'agent_busy' });

  expect(session.compactor.isBusy).toBe(true);
  await session.abort();
  expect(await compacted).toMatchObject({ message: 'Compaction cancelled' });
});
