import type { AgentEvent, CommandName, Frame } from '../protocol/generated/vocabulary.ts';

/** Up to where a client has heard a session. */
export interface Cursor {
  readonly epoch: string;
  readonly after: number;
}

/** Which session is wanted. */
export type Target =
  | { readonly kind: 'stored'; readonly path: string }
  | { readonly kind: 'new'; readonly cwd: string; readonly id?: string | undefined };

/** A record of a session as it goes out, made into text once, whoever gets it. */
export interface Numbered {
  readonly seq: number;
  readonly event: AgentEvent;
  /** One line, with `seq` and without its end. */
  readonly text: string;
}

/** What one client is told by the session it is in. */
export interface Listener {
  /** Which dialogs it can show; undefined: all. */
  readonly ui: readonly string[] | undefined;
  /** Whether it wants the entries themselves. */
  readonly entries: boolean;
  /** Something happened in the session. `retold`: it is part of the snapshot and has no number. */
  hear(record: Numbered): void;
  /** What only this client is told. */
  tell(event: AgentEvent): void;
  /** The conversation is another one now: `text` is the line of its `state_synced`. */
  sync(text: string): void;
  /** The agent went over to another session by itself, and everybody with it. */
  moved(): void;
  /** There is no session any more. */
  lost(reason: string): void;
}

/** What the agent answered: a line without `id`. */
export interface Answer {
  readonly success: boolean;
  /** The line as the agent wrote it, with the id in the place of its own. */
  text(id: unknown): string;
  readonly data: () => unknown;
}

/** One client's hold on a session that lives somewhere. */
export interface Handle {
  readonly sessionId: string;
  readonly sessionFile: string | undefined;
  send(command: { readonly type: CommandName } & object): Promise<Answer>;
  frame(frame: Frame): void;
  close(): void;
}

export interface Sessions {
  open(target: Target, listener: Listener, cursor?: Cursor): Promise<Handle>;
}
