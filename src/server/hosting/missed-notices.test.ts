import { expect, it } from 'vitest';
import type { AgentEvent } from '../../protocol/generated/vocabulary.ts';
import { MAX_KEPT_NOTICES, MissedNotices } from './missed-notices.ts';

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
  expect([kept.length, kept[0], kept.at(-1)]).toEqual([MAX_KEPT_NOTICES, failure('2'), failure(`${MAX_KEPT_NOTICES + 1}`)]);
});
