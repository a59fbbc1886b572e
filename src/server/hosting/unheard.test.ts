import { expect, it } from 'vitest';
import type { AgentEvent } from '../../protocol/generated/vocabulary.ts';
import { MAX_UNHEARD, Unheard } from './unheard.ts';

const failure = (error: string): AgentEvent => ({
  type: 'extension_error',
  extensionPath: 'a.ts',
  event: 'load',
  error,
});

it('keeps what is said once, and nothing else, for one who takes it', () => {
  const unheard = new Unheard();
  const repaired: AgentEvent = { type: 'session_repaired', sessionId: 's', toolCallIds: [], tornBytes: 3 };
  const notice: AgentEvent = { type: 'extension_ui_request', id: '1', method: 'notify', message: 'hello' };

  for (const event of [repaired, { type: 'agent_start' } as AgentEvent, notice, failure('broken')]) unheard.add(event);

  expect(unheard.take()).toEqual([repaired, notice, failure('broken')]);
  expect(unheard.take()).toEqual([]);
});

it('forgets the oldest when there is too much', () => {
  const unheard = new Unheard();

  for (let count = 0; count < MAX_UNHEARD + 2; count++) unheard.add(failure(`${count}`));

  const kept = unheard.take();
  expect([kept.length, kept[0], kept.at(-1)]).toEqual([MAX_UNHEARD, failure('2'), failure(`${MAX_UNHEARD + 1}`)]);
});
