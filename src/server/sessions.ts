import type { AgentEvent, CommandName, Frame, SessionState } from '../protocol/generated/vocabulary.ts';
import type { MalformedFrame } from '../wire/inbound.ts';
import type { AgentResponse } from './agent-response.ts';
import type { SessionRecord } from './session-record.ts';

/** Up to where a client has heard a session. */
export interface Cursor {
  readonly epoch: string;
  readonly after: number;
}

/** Which session is wanted. A new one that was named exists already when its client comes back. */
export type SessionTarget =
  | { readonly kind: 'stored'; readonly path: string; readonly id: string; readonly cwd: string }
  | { readonly kind: 'new'; readonly cwd: string; readonly id: string };

/** Where a client stands after it came. */
export interface AttachResult {
  readonly sessionId: string;
  readonly sessionFile: string | undefined;
  readonly epoch: string;
  /** What follows with a greater number is new to it. */
  readonly seq: number;
  /** Whether what it has missed follows; undefined when it did not ask. */
  readonly resume: 'ok' | 'gap' | undefined;
}

/** The conversation at one moment. */
export interface Snapshot {
  readonly state: SessionState;
  /** A JSON list. */
  readonly messages: string;
  /** Of the page before these messages, if they are not all. */
  readonly cursor: string | undefined;
}

/** One client, as a session sees it. Whatever it is told it is told at once, and in order. */
export interface Subscriber {
  /** Whether every update repeats the message so far: then what was missed of one cannot be told by its deltas. */
  readonly isCumulative: boolean;
  /** Whether it may answer dialogs. */
  readonly canAnswerDialogs: boolean;
  /** The dialogs it can show; undefined: it did not say. */
  readonly ui: readonly string[] | undefined;
  /** Whether it is given titles whatever it said. */
  readonly receivesTitles: boolean;
  /** Whether it wants the entries themselves. */
  readonly receivesEntries: boolean;
  /** How often it wants to hear that the agent is alive; 0: never. */
  readonly heartbeatMs: number;
  onAttached(result: AttachResult): void;
  onSnapshot(snapshot: Snapshot): void;
  /** Something happened; without a number when it is told again. */
  onRecord(record: SessionRecord): void;
  /** Something for this client alone. */
  sendPrivate(event: AgentEvent): void;
  /** There is no agent any more, and there will be none. */
  onAgentLost(reason: string): void;
}

export interface AttachOptions {
  readonly cursor?: Cursor | undefined;
  /** How many of the last messages are enough. */
  readonly tail?: number | undefined;
}

/** A command. Its `id` is what the client calls it, and may be anything. */
export type CommandRequest = { readonly type: CommandName; readonly id?: unknown } & Readonly<Record<string, unknown>>;

/** One client's hold on a session, wherever that lives. */
export interface SessionHandle {
  readonly sessionId: string;
  /** The folder that the agent works in. */
  readonly cwd: string;
  /** Lets the client hear the session from now on, after what it has missed. Settles when it does. */
  attach(options: AttachOptions): Promise<void>;
  /** `answered` is called in its place among the records of the session. */
  send(request: CommandRequest, onResponse: (response: AgentResponse) => void): void;
  /** Hands over what gets no answer. */
  sendFrame(frame: Frame): void;
  /** The same of one whose type and id could be read, and nothing else. */
  sendMalformedFrame(frame: MalformedFrame): void;
  /** What the client wants of dialogs or heartbeats is another thing now. */
  updatePreferences(): void;
  /** Tells the client every entry there is, and from then on every new one. */
  followEntries(): void;
  /** `isSessionSwitch`: the client goes to another session. Settles when nothing of it is in the way of others there. */
  close(options?: { readonly isSessionSwitch: boolean }): Promise<void>;
}

/** Every session that can be opened. */
export interface Sessions {
  open(target: SessionTarget, subscriber: Subscriber): Promise<SessionHandle>;
  /** Somebody may come soon: starts the agent meanwhile, where there is room to spare. */
  prewarm(target: SessionTarget): Promise<void>;
  /** What a session is doing; undefined when no agent is in it. */
  statusOf(sessionId: string): 'running' | 'waiting' | 'idle' | undefined;
  /** The file that an agent is in under this id, if it is there yet: there may be copies of it. */
  fileOf(sessionId: string): string | undefined;
  /** The folder of a session of which nothing may be on disk yet. */
  folderOf(sessionId: string): string | undefined;
  /** Asks the agent of a session without being its client; undefined when there is none. */
  request(target: SessionTarget, request: CommandRequest): Promise<AgentResponse | undefined>;
  /** Lets the agent of a session leave, if nobody needs it; answers whether there is none any more. */
  releaseIfIdle(target: SessionTarget): Promise<boolean>;
}
