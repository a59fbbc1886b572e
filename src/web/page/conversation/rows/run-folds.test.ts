import { signal } from '@preact/signals';
import { expect, it } from 'vitest';
import { type ConversationView, emptyView } from '../../../../client/view/view.ts';
import type { AgentMessage, AssistantMessage } from '../../../../protocol/generated/vocabulary.ts';
import { empty } from '../../../../wire/testing/streams.ts';
import { type MessageRow, Rows } from './rows.ts';
import { isFold, RunFolds } from './run-folds.ts';

let lastId = 0;

const user: AgentMessage = { role: 'user', content: 'x', timestamp: 1 };
const answer = (more: Partial<AssistantMessage> = {}): AssistantMessage => ({ ...empty, timestamp: 9000, ...more });
const hidden: AgentMessage = { role: 'custom', customType: 'c', content: 'x', display: false, timestamp: 1 };

/** A message with this number of tool calls and their results. */
function step(calls = 1, result: Partial<Extract<AgentMessage, { role: 'toolResult' }>> = {}): AgentMessage[] {
  const ids = Array.from({ length: calls }, () => `call-${++lastId}`);
  const content = ids.map((id) => ({ type: 'toolCall' as const, id, name: 'edit', arguments: { path: 'a' } }));
  const fields = {
    role: 'toolResult',
    toolName: 'edit',
    content: [],
    isError: false,
    timestamp: 1,
    ...result,
  } as const;
  return [
    answer({ content, stopReason: 'toolUse', timestamp: 1000 }),
    ...ids.map((toolCallId) => ({ ...fields, toolCallId })),
  ];
}

function setUp(messages: readonly AgentMessage[], { running = false, isSynced = true, readKeys = [0] } = {}) {
  const view = signal<ConversationView>({
    ...emptyView,
    messages: structuredClone(messages) as AgentMessage[],
    running,
  });
  const source = new Rows();
  const rows = signal<readonly MessageRow[]>(source.of(view.value));
  const synced = signal(isSynced);
  const isInSight = (keys: readonly number[]) => keys.some((key) => readKeys.includes(key));
  const folds = new RunFolds({ rows, session: { view, isSynced: synced }, isInSight });
  const update = (change: Partial<ConversationView>) => {
    view.value = { ...view.value, ...change };
    rows.value = source.of(view.value);
  };
  /** The number of steps of each fold, and `m` for each message. */
  const shape = () => folds.rows.value.map((row) => (isFold(row) ? row.run.steps : 'm'));
  return { view, folds, update, synced, shape };
}

it('the steps before an answer fold, from five on', () => {
  expect(setUp([user, ...step(5), answer()]).shape()).toEqual(['m', 5, 'm']);
  expect(setUp([user, ...step(4), answer()]).shape()).toEqual(['m', 'm', 'm']);
});

it('without an answer, the last step stays', () => {
  expect(setUp([user, ...step(3), ...step(3), ...step(3)]).shape()).toEqual(['m', 6, 'm']);
  const aborted = answer({
    content: step().flatMap((one) => (one as AssistantMessage).content) as [],
    stopReason: 'aborted',
  });
  expect(setUp([user, ...step(5), aborted]).shape()).toEqual(['m', 5, 'm']);
});

it('every answer stays, also when the next run has no visible prompt', () => {
  expect(setUp([user, ...step(5), answer(), hidden, ...step(6), answer()]).shape()).toEqual(['m', 5, 'm', 6, 'm']);
});

it('a run folds at its end, with what came before a steering message', () => {
  const before = [user, ...step(5), answer(), user, ...step(6), ...step()];
  const { shape, update, view } = setUp(before, { running: true });
  expect(shape()).toEqual(['m', 5, 'm', 'm', 'm', 'm']);

  update({ messages: [...view.value.messages, user, ...step(7)] });
  expect(shape()).toEqual(['m', 5, 'm', 'm', 'm', 'm', 'm', 'm']);

  update({ messages: [...view.value.messages, answer()], running: false });
  expect(shape()).toEqual(['m', 5, 'm', 'm', 6, 'm', 'm', 7, 'm']);
});

it('a run that ended with a step stays folded while the next one runs', () => {
  const { shape, update, view } = setUp([user, ...step(5), ...step()]);
  expect(shape()).toEqual(['m', 5, 'm']);

  update({ messages: [...view.value.messages, user, ...step(7), ...step()], running: true });
  expect(shape()).toEqual(['m', 5, 'm', 'm', 'm', 'm']);
});

it('nothing folds before the snapshot of a new connection', () => {
  const { shape, synced } = setUp([user, ...step(5), answer()], { isSynced: false });
  expect(shape()).toEqual(['m', 'm', 'm']);

  synced.value = true;
  expect(shape()).toEqual(['m', 5, 'm']);
});

it('a run that the user reads does not fold yet', () => {
  const readKeys = [2];
  const { shape, folds, update } = setUp([user, ...step(5), answer()], { readKeys });
  expect(shape()).toEqual(['m', 'm', 'm']);

  readKeys.pop();
  update({});
  expect(shape()).toEqual(['m', 5, 'm']);
  folds.open(2);
  expect(shape()).toEqual(['m', 5, 'm', 'm']);
  folds.toggle(folds.rows.value.find(isFold)?.key ?? 0);
  expect(shape()).toEqual(['m', 5, 'm']);
});

it('a fold counts results without their call, and names how steps ended', () => {
  const [, stray] = step();
  const [unanswered] = step();
  const [failed, denied] = [step(1, { isError: true }), step(1, { isError: true, details: { denied: true } })];
  const { folds } = setUp([stray, unanswered, ...failed, ...denied, ...step(), answer()] as AgentMessage[]);

  expect(folds.rows.value.find(isFold)?.run).toEqual({
    steps: 5,
    durationMs: 8999,
    changedFiles: 2,
    failures: new Map(Object.entries({ 'without a result': 1, failed: 1, denied: 1 })),
  });
});

it('an unchanged fold keeps its identity', () => {
  const { folds, update, view } = setUp([user, ...step(5), answer()]);
  const before = folds.rows.value[1];
  update({ messages: [...view.value.messages, user] });

  expect(folds.rows.value).toHaveLength(4);
  expect(folds.rows.value[1]).toBe(before);
});
