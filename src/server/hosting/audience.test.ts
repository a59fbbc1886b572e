import { expect, it } from 'vitest';
import type { AgentEvent } from '../../protocol/generated/vocabulary.ts';
import type { Listener } from '../sessions.ts';
import { Audience } from './audience.ts';
import { MemoryJournal } from './memory-journal.ts';

const somebody: Listener = {
  isCumulative: false,
  canAnswer: true,
  ui: undefined,
  titles: false,
  entries: false,
  heartbeatMs: 0,
  connected: () => {},
  synced: () => {},
  hear: () => {},
  tell: () => {},
  lost: () => {},
};

async function told(events: number) {
  const journal = new MemoryJournal();
  const audience = new Audience(journal, () => {});
  const publish = async () => {
    const event: AgentEvent = { type: 'turn_start' };
    const text = JSON.stringify(event);
    audience.publish(event, { seq: await journal.append([text]), text });
  };
  for (let count = 0; count < events; count++) await publish();
  const back = (after: number) =>
    audience.resume({ ...somebody }, { epoch: journal.epoch, after }, { sessionId: 's', sessionFile: undefined });
  return { audience, publish, back };
}

it('knows who has not heard that the conversation became another one', async () => {
  const { audience, publish, back } = await told(3);
  expect(await back(3)).toBe('ok');

  const upToDate = audience.outdate();
  await publish();
  const meanwhile = await back(4);
  upToDate();
  const [before, then] = [await back(3), await back(4)];
  await publish();

  expect([meanwhile, before, then]).toEqual(['outdated', 'outdated', 'outdated']);
  expect(await back(5)).toBe('ok');
});

it('waits for everybody who is about to be told so', async () => {
  const { audience, publish, back } = await told(1);
  const [first, second] = [audience.outdate(), audience.outdate()];
  first();
  first();
  await publish();

  expect(await back(2)).toBe('outdated');
  second();
  await publish();
  expect(await back(3)).toBe('ok');
});
