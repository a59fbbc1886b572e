import { describe, expect, it } from 'vitest';
import type { AgentMessage, SessionState } from '../../../../protocol/generated/vocabulary.ts';
import type { PageLocation } from '../../state/page-location.ts';
import { needsConfinement } from './confine-new-session.ts';

const created: PageLocation = { kind: 'new', id: 'a', cwd: undefined };
const full = { sessionId: 'a', approvalMode: 'full' } as SessionState;
const prompt = { role: 'user', content: 'Go', timestamp: 0 } as AgentMessage;
const answer = { role: 'assistant', content: [], timestamp: 0 } as unknown as AgentMessage;

describe('needsConfinement', () => {
  it.each([
    ['a new session in mode full', created, full, [], true],
    ['a new session whose first prompt was sent before a lost connection', created, full, [prompt], true],
    ['a session with an answer', created, full, [prompt, answer], false],
    ['a session that the page did not create', { kind: 'session', id: 'a' }, full, [], false],
    ['another session on the same connection', created, { ...full, sessionId: 'b' }, [], false],
    ['a session with a stricter mode', created, { ...full, approvalMode: 'ask' }, [], false],
    ['an agent without modes', created, { sessionId: 'a' }, [], false],
  ] as const)('%s', (_, origin, state, messages, isNeeded) => {
    expect(needsConfinement(origin, { state: state as SessionState, messages: [...messages] })).toBe(isNeeded);
  });
});
