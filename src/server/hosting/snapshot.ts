import { Refusal } from '../../protocol/errors.ts';
import type { Result, SessionState } from '../../protocol/generated/vocabulary.ts';
import type { Request, Snapshot } from '../sessions.ts';
import type { Answer } from './answer.ts';
import type { HostedAgent } from './hosted-agent.ts';
import type { Told } from './told.ts';

/** How often it is tried to catch a moment at which nothing happens between two answers. */
const MAX_TRIES = 20;

interface Wanted {
  readonly agent: HostedAgent;
  /** How many of the last messages are enough; undefined: all. */
  readonly tail: number | undefined;
  readonly told: Told;
  /** Another number whenever something has happened. */
  readonly happened: () => number;
  /** Called at the very moment of which the snapshot tells. */
  readonly use: (snapshot: Snapshot) => void;
  readonly fail: (error: Error) => void;
}

/** Asks an agent for its state and its conversation, as they are at one moment. */
export function takeSnapshot(wanted: Wanted, tries = 1): void {
  const { agent, tail, told, happened, use, fail } = wanted;
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
    else if (happened() !== before) fail(new Refusal('overloaded', 'The conversation does not hold still'));
    else use(snapshotOf(state.data() as SessionState, tail === undefined ? wholeIn(messages) : pageIn(messages), told));
  };
  const said = (answer: Answer) => {
    messages = answer;
    answered();
  };
  const known = (answer: Answer) => {
    state = answer;
    answered();
  };
  agent.askTogether([
    [request, { answered: said }],
    [{ type: 'get_state' }, { answered: known }],
  ]);
}

interface Messages {
  readonly messages: string;
  readonly cursor?: string | undefined;
  readonly total?: number;
}

function snapshotOf(state: SessionState, { messages, cursor, total }: Messages, told: Told): Snapshot {
  return { state, messages: state.isIdle ? messages : told.without(messages, total), cursor };
}

/** A long conversation is passed on as it was written. */
function wholeIn(answer: Answer): Messages {
  return { messages: answer.firstField('messages') ?? JSON.stringify(answer.data().messages) };
}

function pageIn(answer: Answer): Messages {
  const { messages, nextCursor, totalMessages } = answer.data() as Result<'get_messages_page'>;
  return { messages: JSON.stringify(messages), cursor: nextCursor, total: totalMessages };
}
