import { Refusal } from '../../protocol/errors.ts';
import type { AgentSettledEvent, Result, SessionState } from '../../protocol/generated/vocabulary.ts';
import type { AgentResponse } from '../agent-response.ts';
import type { AttachOptions, CommandRequest, Cursor, Snapshot, Subscriber } from '../sessions.ts';
import type { HostedAgent } from './agent/hosted-agent.ts';
import type { PublishedMessages } from './published-messages.ts';
import type { SessionLocation, Subscribers } from './subscribers.ts';

interface SnapshotSenderParts {
  readonly subscribers: Subscribers;
  readonly published: PublishedMessages;
  readonly location: () => SessionLocation;
  // `agent_settled` events after a cursor.
  readonly runEndsAfter: (cursor: Cursor) => readonly AgentSettledEvent[];
  // Calls back with the agent when it accepts requests, or without one when the host is closing.
  readonly whenReady: (work: (agent: HostedAgent | undefined) => void) => void;
}

/** Sends snapshots: to a client that attaches, and to all clients after a change that no event describes. */
export class SnapshotSender {
  readonly #parts: SnapshotSenderParts;
  readonly #tails = new WeakMap<Subscriber, number>();

  constructor(parts: SnapshotSenderParts) {
    this.#parts = parts;
  }

  /** Resumes a client at its cursor or sends it a snapshot; returns which. */
  async attach(subscriber: Subscriber, { cursor, tail }: AttachOptions): Promise<'resumed' | 'snapshot'> {
    const { subscribers, location } = this.#parts;
    if (tail !== undefined) this.#tails.set(subscriber, tail);
    const resumed = cursor && (await subscribers.resume(subscriber, cursor, location()));
    if (!resumed) await this.#attachWithSnapshot(subscriber, { cursor, tail });
    else if (resumed === 'outdated')
      await this.#sendRefreshed({ tail, reader: subscriber }, (snapshot) => subscriber.onSnapshot(snapshot));
    return resumed ? 'resumed' : 'snapshot';
  }

  /** Sends a new snapshot to all clients; those with the same tail share it. */
  resend(): void {
    const { subscribers } = this.#parts;
    for (const tail of this.#requestedTails()) {
      const send = (snapshot: Snapshot) => {
        for (const subscriber of subscribers.attached)
          if (this.#tails.get(subscriber) === tail) subscriber.onSnapshot(snapshot);
      };
      this.#sendRefreshed({ tail }, send).catch(() => {});
    }
  }

  /** Until `send` was called, resuming clients count as stale. */
  #sendRefreshed(extent: SnapshotExtent, send: (snapshot: Snapshot) => void): Promise<void> {
    const markCurrent = this.#parts.subscribers.markStale();
    const use = (snapshot: Snapshot) => {
      send(snapshot);
      markCurrent();
    };
    return this.#withSnapshot(extent, use).finally(markCurrent);
  }

  /** Sends all clients the location and snapshot of the new session. */
  announceSessionChange(onSnapshot: (snapshot: Snapshot) => void): void {
    const { subscribers, location } = this.#parts;
    const announceTo = (tail: number | undefined) => (snapshot: Snapshot) => {
      onSnapshot(snapshot);
      for (const subscriber of [...subscribers.attached]) {
        if (this.#tails.get(subscriber) !== tail) continue;
        subscribers.attach(subscriber, { location: location(), snapshot, resume: undefined, runEnds: [] });
      }
    };
    subscribers.enterNewSession();
    for (const tail of this.#requestedTails()) this.#withSnapshot({ tail }, announceTo(tail)).catch(() => {});
  }

  /** The distinct tails of the attached clients; without clients, that of a full snapshot. */
  #requestedTails(): ReadonlySet<number | undefined> {
    const tails = [...this.#parts.subscribers.attached].map((subscriber) => this.#tails.get(subscriber));
    return new Set(tails.length === 0 ? [undefined] : tails);
  }

  #attachWithSnapshot(subscriber: Subscriber, { cursor, tail }: AttachOptions): Promise<void> {
    const { subscribers, location, runEndsAfter } = this.#parts;
    const resume = cursor ? ('gap' as const) : undefined;
    return this.#withSnapshot({ tail, reader: subscriber }, (snapshot) => {
      const runEnds = cursor ? runEndsAfter(cursor) : [];
      subscribers.attach(subscriber, { location: location(), snapshot, resume, runEnds });
    });
  }

  /** Calls `use` at the very moment that the snapshot describes. */
  #withSnapshot(extent: SnapshotExtent, use: (snapshot: Snapshot) => void): Promise<void> {
    const { subscribers, published, whenReady } = this.#parts;
    return new Promise((resolve, reject) => {
      const done = (snapshot: Snapshot) => {
        try {
          use(snapshot);
          resolve();
        } catch (error) {
          reject(error as Error);
        }
      };
      const fetch = () =>
        whenReady((agent) => {
          if (!agent) {
            reject(new Error('Pi process terminated'));
            return;
          }
          // After a crash meanwhile, the restarted agent is used.
          const fail = (error: Error) =>
            queueMicrotask(() => whenReady((next) => (next === agent ? reject(error) : fetch())));
          fetchSnapshot({
            ...extent,
            agent,
            published,
            lastSeq: () => subscribers.lastSeq,
            onSnapshot: done,
            onError: fail,
          });
        });
      fetch();
    });
  }
}

// Attempts to get both responses without an event in between.
const MAX_SNAPSHOT_TRIES = 20;

interface SnapshotExtent {
  // How many of the last messages; undefined: all.
  readonly tail: number | undefined;
  // The only client that gets it; with it the fetching ends.
  readonly reader?: Subscriber;
}

interface SnapshotRequest extends SnapshotExtent {
  readonly agent: HostedAgent;
  readonly published: PublishedMessages;
  // Changes with every published event.
  readonly lastSeq: () => number;
  // Called at the very moment that the snapshot describes.
  readonly onSnapshot: (snapshot: Snapshot) => void;
  readonly onError: (error: Error) => void;
}

/** Fetches the state and the messages of an agent as of one moment. */
function fetchSnapshot(snapshotRequest: SnapshotRequest, tries = 1): void {
  const { agent, tail, reader, lastSeq, onSnapshot, onError } = snapshotRequest;
  const request: CommandRequest =
    tail === undefined ? { type: 'get_messages' } : { type: 'get_messages_page', from: 'end', limit: tail };
  let messages: AgentResponse | undefined;
  let state: AgentResponse | undefined;
  let seqBefore = 0;
  // The responses may arrive in either order.
  const checkBoth = () => {
    if (!messages || !state) seqBefore = lastSeq();
    else if (!messages.success || !state.success) onError(new Error('The agent could not send the conversation'));
    else if (lastSeq() !== seqBefore && tries < MAX_SNAPSHOT_TRIES) fetchSnapshot(snapshotRequest, tries + 1);
    else if (lastSeq() !== seqBefore) onError(new Refusal('overloaded', 'The conversation does not hold still'));
    else {
      const snapshot = parseSnapshot(state, messages, snapshotRequest);
      if (snapshot instanceof Error) onError(snapshot);
      else onSnapshot(snapshot);
    }
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
    [request, { requester: reader, onResponse: handleMessages }],
    [{ type: 'get_state' }, { onResponse: handleState }],
  ]);
}

/** The snapshot in two responses; an error if an agent other than tau sent something else. */
function parseSnapshot(
  state: AgentResponse,
  messages: AgentResponse,
  { tail, published }: Pick<SnapshotRequest, 'tail' | 'published'>,
): Snapshot | Error {
  try {
    const json = tail === undefined ? allMessages(messages) : messagePage(messages);
    return snapshotOf(state.data() as SessionState, json, published);
  } catch (error) {
    return new Error('The agent could not send the conversation', { cause: error });
  }
}

interface MessagesJson {
  readonly messages: string;
  readonly cursor?: string | undefined;
  readonly total?: number;
}

function snapshotOf(
  state: SessionState,
  { messages, cursor, total }: MessagesJson,
  published: PublishedMessages,
): Snapshot {
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
