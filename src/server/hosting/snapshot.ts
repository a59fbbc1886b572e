import { Refusal } from '../../protocol/errors.ts';
import type { Result, SessionState } from '../../protocol/generated/vocabulary.ts';
import type { CommandRequest, Snapshot } from '../sessions.ts';
import type { AgentResponse } from '../agent-response.ts';
import type { HostedAgent } from './hosted-agent.ts';
import type { PublishedMessages } from './published-messages.ts';

// Attempts to get both responses without an event in between.
const MAX_SNAPSHOT_TRIES = 20;

interface SnapshotRequest {
  readonly agent: HostedAgent;
  readonly tail: number | undefined;
  readonly published: PublishedMessages;
  // Changes with every published event.
  readonly lastSeq: () => number;
  // Called at the very moment that the snapshot describes.
  readonly onSnapshot: (snapshot: Snapshot) => void;
  readonly onError: (error: Error) => void;
}

/** Fetches the state and the messages of an agent as of one moment. */
export function fetchSnapshot(snapshotRequest: SnapshotRequest, tries = 1): void {
  const { agent, tail, published, lastSeq, onSnapshot, onError } = snapshotRequest;
  const request: CommandRequest =
    tail === undefined ? { type: 'get_messages' } : { type: 'get_messages_page', from: 'end', limit: tail };
  let messages: AgentResponse | undefined;
  let state: AgentResponse | undefined;
  let seqBefore = 0;
  // The responses may arrive in either order.
  const checkBoth = () => {
    if (!messages || !state) seqBefore = lastSeq();
    else if (!messages.success || !state.success) onError(new Error('The agent could not tell the conversation'));
    else if (lastSeq() !== seqBefore && tries < MAX_SNAPSHOT_TRIES) fetchSnapshot(snapshotRequest, tries + 1);
    else if (lastSeq() !== seqBefore) onError(new Refusal('overloaded', 'The conversation does not hold still'));
    else onSnapshot(snapshotOf(state.data() as SessionState, tail === undefined ? allMessages(messages) : messagePage(messages), published));
  };
  const handleMessages = (response: AgentResponse) => {
    messages = response;
    checkBoth();
  };
  const handleState = (response: AgentResponse) => {
    state = response;
    checkBoth();
  };
  agent.sendBatch([
    [request, { onResponse: handleMessages }],
    [{ type: 'get_state' }, { onResponse: handleState }],
  ]);
}

interface MessagesJson {
  readonly messages: string;
  readonly cursor?: string | undefined;
  readonly total?: number;
}

function snapshotOf(state: SessionState, { messages, cursor, total }: MessagesJson, published: PublishedMessages): Snapshot {
  return { state, messages: state.isIdle ? messages : published.withoutUnpublished(messages, total), cursor };
}

/** Forwards a long conversation without parsing it. */
function allMessages(response: AgentResponse): MessagesJson {
  return { messages: response.firstField('messages') ?? JSON.stringify(response.data().messages) };
}

function messagePage(response: AgentResponse): MessagesJson {
  const { messages, nextCursor, totalMessages } = response.data() as Result<'get_messages_page'>;
  return { messages: JSON.stringify(messages), cursor: nextCursor, total: totalMessages };
}
