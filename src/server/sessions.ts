import type {
  AgentEvent,
  Approval,
  ApprovalOption,
  CommandName,
  Frame,
  Params,
  SessionState,
} from '../protocol/generated/vocabulary.ts';
import type { MalformedFrame } from '../wire/inbound.ts';
import type { AgentResponse } from './agent-response.ts';
import type { SessionRecord } from './session-record.ts';

/** Whether a client, or the agent that serves it, may change a session or only reads it. */
export type Access = 'read' | 'write';

/** All sessions that can be opened. */
export interface Sessions {
  open(target: SessionTarget, subscriber: Subscriber): Promise<SessionHandle>;
  /** Starts the agent of a session that a client will open soon, if there is spare capacity. */
  prewarm(target: SessionTarget, access: Access): Promise<void>;
  /** Call before the agent of a client works on the file of another session; false if another server has it open. */
  fetch(target: SessionTarget, handle: SessionHandle): Promise<boolean>;
  /** Call before a client receives the name of a session that an agent created beside its own. */
  adopt(target: SessionTarget): Promise<void>;
  /** Undefined without a live agent. */
  statusOf(sessionId: string): 'running' | 'waiting' | 'idle' | undefined;
  /** The existing file of a live session: several files may have its id. */
  fileOf(sessionId: string): string | undefined;
  /** The folder of a session that may have no file yet. */
  folderOf(sessionId: string): string | undefined;
  /** Sends a request to a live agent without a subscriber; undefined without an agent, unless it starts one. */
  request(
    target: SessionTarget,
    request: CommandRequest,
    options?: { readonly startsAgent: boolean },
  ): Promise<AgentResponse | undefined>;
  /** Shuts down the agent of a session unless it has clients or a run that may not be stopped; returns whether none is left. */
  release(target: SessionTarget, stop?: StopExtent): Promise<boolean>;
}

/** The extent of a release: it stops a run without clients, or a run and the connections of all clients. */
export type StopExtent = NonNullable<Params<'delete_session'>['stop']>;

/** The position up to which a client received a session. */
export interface Cursor {
  readonly epoch: string;
  readonly after: number;
}

/** The session to open. A new one with a chosen id may exist already when its client reconnects. */
export type SessionTarget =
  | { readonly kind: 'stored'; readonly path: string; readonly id: string; readonly cwd: string }
  | {
      readonly kind: 'new';
      readonly cwd: string;
      readonly id: string;
      /** The session in whose folder it begins, if an agent created it. */
      readonly beside?: string;
    };

/** The position of a client after it attached. */
export interface AttachResult {
  readonly sessionId: string;
  readonly sessionFile: string | undefined;
  readonly epoch: string;
  /** Events with a greater number are new to the client. */
  readonly seq: number;
  /** Whether missed events follow; undefined without a cursor. */
  readonly resume: 'ok' | 'gap' | undefined;
}

/** The state and messages of a session at one moment. */
export interface Snapshot {
  readonly state: SessionState;
  readonly messages: string;
  /** The cursor of the previous page, if these are not all messages. */
  readonly cursor: string | undefined;
}

/** The answer to a question about a tool call, without a word of the call. */
export interface AuditedAnswer {
  readonly tool: string;
  readonly kind: Approval['kind'] | 'unknown';
  readonly option: ApprovalOption['kind'];
}

/** An answer of a client to an open dialog. */
export interface DialogAnswer {
  /** `permission_denied`: the client may not give this answer, and the dialog stays open. */
  readonly outcome: 'ok' | 'permission_denied';
  /** Undefined if the dialog was no question about a tool call. */
  readonly approval: AuditedAnswer | undefined;
}

/** A client as a session sees it. Calls arrive synchronously and in order. */
export interface Subscriber {
  /** Whether updates repeat the whole message: then missed parts of one cannot be resumed by deltas. */
  readonly isCumulative: boolean;
  readonly access: Access;
  /** Whether it gets the conversation and the events of the session. */
  readonly canView: boolean;
  readonly canAnswerDialogs: boolean;
  /** Whether it gets dialogs and notices for admins. */
  readonly isAdmin: boolean;
  /** The UI methods it supports; undefined if it did not send any. */
  readonly ui: readonly string[] | undefined;
  /** Whether it gets titles regardless of `ui`. */
  readonly receivesTitles: boolean;
  /** Whether it gets `entry_appended` events. */
  readonly receivesEntries: boolean;
  /** Whether its events carry the ids of session and run. */
  readonly receivesIds: boolean;
  /** Whether updates of tools carry only the new output, or that too. */
  readonly receivesOutputDeltas: boolean;
  /** The interval of heartbeats; 0 for none. */
  readonly heartbeatMs: number;
  /** Whether much of its output is unread: then its reads wait. */
  readonly isBehind: boolean;
  onAttached(result: AttachResult): void;
  onSnapshot(snapshot: Snapshot): void;
  /** Receives a session event; repeated ones have no sequence number. */
  onRecord(record: SessionRecord): void;
  /** Receives an event for this client alone. */
  sendPrivate(event: AgentEvent): void;
  /** The session received an answer of this client to a dialog that it may answer. */
  onAnswer(answer: DialogAnswer): void;
  /** The agent ended for good. */
  onAgentLost(reason: string): void;
  /** Another server owns the session now: the client may connect again. */
  onSessionMoved(): void;
  /** Another client deletes the session. */
  onSessionDeleted(): void;
}

export interface AttachOptions {
  readonly cursor?: Cursor | undefined;
  /** How many of the last messages the snapshot holds. */
  readonly tail?: number | undefined;
}

/** A command. Its `id` is the client's own and may be any value. */
export type CommandRequest = { readonly type: CommandName; readonly id?: unknown } & Readonly<Record<string, unknown>>;

/** The connection of one client to a session. */
export interface SessionHandle {
  readonly sessionId: string;
  readonly cwd: string;
  /** Attaches the client: missed events or a snapshot first, then all further events. Settles when it is attached. */
  attach(options: AttachOptions): Promise<void>;
  /** `onResponse` is called in order with the session's events. */
  send(request: CommandRequest, onResponse: (response: AgentResponse) => void): void;
  /** Sends a frame, which gets no response. */
  sendFrame(frame: Frame): void;
  /** Sends a frame of which only type and id could be read. */
  sendMalformedFrame(frame: MalformedFrame): void;
  /** Call after a change of the client's UI methods or heartbeats. */
  updatePreferences(): void;
  /** Call after a change of `receivesOutputDeltas`: sends the client what running tools printed. */
  replayOutput(): void;
  /** Sends the client all entries, then each new one. */
  followEntries(): void;
  /** Call when `isBehind` of the client has become false. */
  continueReads(): void;
  /** On a session switch it settles when the client no longer blocks others in this session. */
  close(options?: { readonly isSessionSwitch: boolean }): Promise<void>;
}
