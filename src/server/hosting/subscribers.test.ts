import { expect, it } from 'vitest';
import type { AgentEvent } from '../../protocol/generated/vocabulary.ts';
import type { Subscriber } from '../sessions.ts';
import { Subscribers } from './subscribers.ts';
import { MemoryJournal } from './memory-journal.ts';

const subscriber: Subscriber = {
  isCumulative: false,
  canAnswerDialogs: true,
  ui: undefined,
  receivesTitles: false,
  receivesEntries: false,
  heartbeatMs: 0,
  onAttached: () => {},
  onSnapshot: () => {},
  onRecord: () => {},
  sendPrivate: () => {},
  onAgentLost: () => {},
};

async function withEvents(events: number) {
  const journal = new MemoryJournal();
  const subscribers = new Subscribers(journal, () => {});
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
