import { expect, it } from 'vitest';
import type { AgentEvent } from '../../protocol/generated/vocabulary.ts';
import type { Subscriber } from '../sessions.ts';
import { MemoryJournal } from './storage/journal.ts';
import { MAX_KEPT_NOTICES, MissedNotices, Subscribers } from './subscribers.ts';

const subscriber: Subscriber = {
  access: 'write',
  isCumulative: false,
  canAnswerDialogs: true,
  isAdmin: true,
  ui: undefined,
  receivesTitles: false,
  receivesEntries: false,
  receivesIds: false,
  receivesOutputDeltas: false,
  heartbeatMs: 0,
  isBehind: false,
  canView: true,
  onAttached: () => {},
  onSnapshot: () => {},
  onRecord: () => {},
  sendPrivate: () => {},
  onAnswer: () => {},
  onAgentLost: () => {},
  onSessionMoved: () => {},
  onSessionDeleted: () => {},
};

async function withEvents(events: number) {
  const journal = new MemoryJournal();
  const subscribers = new Subscribers(
    journal,
    () => {},
    () => undefined,
  );
  const publish = async () => {
    const event: AgentEvent = { type: 'turn_start' };
    const text = JSON.stringify(event);
    subscribers.publish(event, { seq: await journal.append([text]), text });
  };
  for (let count = 0; count < events; count++) await publish();
  const resumeAfter = (after: number) =>
    subscribers.resume({ ...subscriber }, { epoch: journal.epoch, after }, { sessionId: 's', sessionFile: undefined });
  return { audience: subscribers, publish, back: resumeAfter };
}

it('a client that resumes from before a stale point counts as outdated', async () => {
  const { audience: subscribers, publish, back: resumeAfter } = await withEvents(3);
  expect(await resumeAfter(3)).toBe('ok');

  const markCurrent = subscribers.markStale();
  await publish();
  const meanwhile = await resumeAfter(4);
  markCurrent();
  const [before, then] = [await resumeAfter(3), await resumeAfter(4)];
  await publish();

  expect([meanwhile, before, then]).toEqual(['outdated', 'outdated', 'outdated']);
  expect(await resumeAfter(5)).toBe('ok');
});

it('a client counts as outdated until all resends are done', async () => {
  const { audience: subscribers, publish, back: resumeAfter } = await withEvents(1);
  const [first, second] = [subscribers.markStale(), subscribers.markStale()];
  first();
  first();
  await publish();

  expect(await resumeAfter(2)).toBe('outdated');
  second();
  await publish();
  expect(await resumeAfter(3)).toBe('ok');
});

const failure = (error: string): AgentEvent => ({
  type: 'extension_error',
  extensionPath: 'a.ts',
  event: 'load',
  error,
});

it('only one-time notices are kept, and taken once', () => {
  const notices = new MissedNotices();
  const repaired: AgentEvent = { type: 'session_repaired', sessionId: 's', toolCallIds: [], tornBytes: 3 };
  const notice: AgentEvent = { type: 'extension_ui_request', id: '1', method: 'notify', message: 'hello' };

  for (const event of [repaired, { type: 'agent_start' } as AgentEvent, notice, failure('broken')]) notices.add(event);

  expect(notices.take()).toEqual([repaired, notice, failure('broken')]);
  expect(notices.take()).toEqual([]);
});

it('beyond the limit the oldest notice is dropped', () => {
  const notices = new MissedNotices();

  for (let count = 0; count < MAX_KEPT_NOTICES + 2; count++) notices.add(failure(`${count}`));

  const kept = notices.take();
  expect([kept.length, kept[0], kept.at(-1)]).toEqual([
    MAX_KEPT_NOTICES,
    failure('2'),
    failure(`${MAX_KEPT_NOTICES + 1}`),
  ]);
});
