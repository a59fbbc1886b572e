import type { SessionState } from '../../protocol/generated/vocabulary.ts';
import type { Request, Snapshot } from '../sessions.ts';
import type { Answer } from './answer.ts';
import type { HostedAgent } from './hosted-agent.ts';

/** How often it is tried to catch a moment at which nothing happens between two answers. */
const MAX_TRIES = 20;

interface Wanted {
  readonly agent: HostedAgent;
  /** How many of the last messages are enough; undefined: all. */
  readonly tail: number | undefined;
  /** Another number whenever something has happened. */
  readonly happened: () => number;
  /** Called at the very moment of which the snapshot tells. */
  readonly use: (snapshot: Snapshot) => void;
  readonly fail: (error: Error) => void;
}

/** Asks an agent for its state and its conversation, as they are at one moment. */
export function takeSnapshot(wanted: Wanted, tries = 1): void {
  const { agent, tail, happened, use, fail } = wanted;
  const request: Request =
    tail === undefined ? { type: 'get_messages' } : { type: 'get_messages_page', from: 'end', limit: tail };
  let messages: Answer | undefined;
  let state: Answer | undefined;
  let before = 0;
  // Either may be answered first.
  const answered = () => {
    if (!messages || !state) before = happened();
    else if (!messages.success || !state.success) fail(new Error('The agent could not tell the conversation'));
    else if (happened() !== before && tries < MAX_TRIES) takeSnapshot(wanted, tries + 1);
    else use(snapshotOf(state.data() as SessionState, messages, tail !== undefined));
  };
  const told = (answer: Answer) => {
    messages = answer;
    answered();
  };
  const known = (answer: Answer) => {
    state = answer;
    answered();
  };
  agent.askTogether([
    [request, { answered: told }],
    [{ type: 'get_state' }, { answered: known }],
  ]);
}

/** A long conversation is passed on as it was written. */
function snapshotOf(state: SessionState, answer: Answer, isPage: boolean): Snapshot {
  const whole = isPage ? undefined : answer.firstField('messages');
  if (whole !== undefined) return { state, messages: whole, cursor: undefined };
  const { messages, nextCursor } = answer.data() as { messages: unknown[]; nextCursor?: string };
  return { state, messages: JSON.stringify(messages), cursor: nextCursor };
}
