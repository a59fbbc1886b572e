import { commandRows } from '../../protocol/generated/command-rows.ts';
import type { CommandName, Frame } from '../../protocol/generated/vocabulary.ts';
import { parseBuiltinMove } from '../../protocol/slash-commands.ts';
import { escapeLineBreaks } from '../../wire/json-lines.ts';
import { CommandFailed, ConnectionLost, NotSent, Withdrawn } from '../errors.ts';
import { type PendingCommand, settleCommand, type WireRecord } from '../pending-commands.ts';

/** Commands without a response, sent or not; more are rejected. */
export const MAX_OUTBOX_COMMANDS = 1000;

/** Rejects a command when too many commands have no response yet. */
export class OutboxFull extends Error {
  override readonly name = 'OutboxFull';
}

/** A message that the server has not acknowledged. */
export interface OutboxItem {
  readonly clientMessageId: string;
  readonly text: string;
  /** `waiting`: not sent yet. `sent`: not acknowledged yet. */
  readonly state: 'waiting' | 'sent';
  /** It was sent over a lost connection: it is sent again and cannot be withdrawn. */
  readonly mayHaveArrived?: true | undefined;
}

export interface Command {
  readonly id: string;
  readonly type: CommandName;
  readonly message?: unknown;
  readonly clientMessageId?: unknown;
  readonly detached?: unknown;
}

interface OutboxEntry extends Partial<PendingCommand> {
  /** Undefined for a frame, which gets no response. */
  readonly record: Command | undefined;
  /** Sent instead of the frame if the server rejects it as too large. */
  readonly fallback?: string | undefined;
  readonly text: string;
  /** Whether sending it twice has the effect of sending it once. */
  readonly isResendable: boolean;
  isSent: boolean;
  mayHaveArrived?: true;
}

/**
 * Sends commands and frames in order and keeps them until they are acknowledged. Messages, reads and dialog answers
 * survive a lost connection; other commands fail, because their outcome is unknown.
 */
export class Outbox {
  readonly #write: (text: string) => void;
  #entries: readonly OutboxEntry[] = [];
  #isOpen = false;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** Unacknowledged messages of this client, in order. */
  get items(): readonly OutboxItem[] {
    return this.#entries.flatMap(({ record, isSent, mayHaveArrived }) => {
      if (!record || !isMessage(record.type)) return [];
      const { clientMessageId, message } = record;
      const state = isSent ? 'sent' : 'waiting';
      return [{ clientMessageId: String(clientMessageId), text: String(message), state, mayHaveArrived } as const];
    });
  }

  /** Sends a command, at once or on the next connection, and returns the data of its response. */
  sendCommand(record: Command): Promise<unknown> {
    if (this.#entries.filter((entry) => entry.record).length < MAX_OUTBOX_COMMANDS) return this.sendUnlimited(record);
    return Promise.reject(
      new OutboxFull(`${MAX_OUTBOX_COMMANDS} commands wait for an answer: "${record.type}" was not taken`),
    );
  }

  /** Sends a command of the connection itself, which no limit rejects. */
  sendUnlimited(record: Command): Promise<unknown> {
    return this.#enqueue(record, (entry) => [...this.#entries, entry]);
  }

  /** Sends a command before everything that waits; it fails with the connection. */
  sendFirst(record: Command): Promise<unknown> {
    return this.#enqueue(record, (entry) => [{ ...entry, isResendable: false }, ...this.#entries]);
  }

  /** Sends a frame. Progress is dropped without a connection; other frames are kept, as the agent waits for each. */
  sendFrame(frame: Frame): void {
    const text = escapeLineBreaks(JSON.stringify(frame));
    const entry = { record: undefined, text, fallback: cancellationOf(frame), isResendable: true, isSent: false };
    const isProgress = frame.type === 'host_tool_update';
    if (isProgress && this.#isOpen) this.#write(text);
    if (isProgress) return;
    this.#entries = [...this.#entries, entry];
    this.#flush();
  }

  /** Removes and rejects a message that was never sent; returns whether there is one. */
  withdraw(clientMessageId: string): boolean {
    const withdrawn = this.#entries.find(
      ({ record, isSent, mayHaveArrived }) => record?.clientMessageId === clientMessageId && !isSent && !mayHaveArrived,
    );
    this.#entries = this.#entries.filter((entry) => entry !== withdrawn);
    withdrawn?.reject?.(new Withdrawn('It was withdrawn'));
    return withdrawn !== undefined;
  }

  /** Sends everything that waits. */
  open(): void {
    this.#isOpen = true;
    this.#flush();
  }

  /** Prepares for the next connection. `wasTooBig`: the server closed because one record was too large. */
  handleDisconnect({ wasTooBig }: { wasTooBig: boolean }): void {
    this.#isOpen = false;
    const tooBig = wasTooBig ? longest(this.#entries.filter(({ isSent }) => isSent)) : undefined;
    const move = this.#entries.findIndex(isMoveInFlight);
    const kept: OutboxEntry[] = [];
    for (const [index, entry] of this.#entries.entries()) {
      const isBehindMove = move !== -1 && index > move && !entry.isSent && !bypassesMoves(entry);
      if (entry === tooBig) {
        entry.reject?.(tooLargeError(entry));
        if (entry.fallback) kept.push({ ...entry, text: entry.fallback, fallback: undefined, isSent: false });
      } else if (entry.isSent && !entry.isResendable) entry.reject?.(unknownOutcomeError(entry));
      else if (isBehindMove) entry.reject?.(notSentError(entry));
      else kept.push(entry.isSent ? Object.assign(entry, { isSent: false, mayHaveArrived: true as const }) : entry);
    }
    this.#entries = kept;
  }

  /** Settles the command of a response and returns it, if it was sent from here. */
  handleResponse(response: WireRecord): Command | undefined {
    const index = this.#entries.findIndex(({ record }) => record?.id === response['id']);
    const entry = this.#entries[index];
    if (!entry?.record || !entry.isSent) return undefined;
    // The server reads in order: frames sent before this command have arrived.
    this.#entries = this.#entries.filter(
      (other, otherIndex) => other !== entry && !(otherIndex < index && !other.record && other.isSent),
    );
    settleCommand(entry as PendingCommand, response);
    this.#flush();
    return entry.record;
  }

  close(reason: ConnectionLost): void {
    const entries = this.#entries;
    this.#entries = [];
    this.#isOpen = false;
    for (const { isSent, reject } of entries) reject?.(isSent ? reason : new NotSent(reason.message));
  }

  #enqueue(record: Command, insert: (entry: OutboxEntry) => readonly OutboxEntry[]): Promise<unknown> {
    const text = escapeLineBreaks(JSON.stringify(record));
    return new Promise((resolve, reject) => {
      const isResendable = isSafeToResend(record);
      this.#entries = insert({ record, text, isResendable, isSent: false, command: record.type, resolve, reject });
      this.#flush();
    });
  }

  /**
   * Commands behind a session move wait for its response: they are meant for the new session. Behind a new approval mode
   * they wait until it holds.
   */
  #flush(): void {
    if (!this.#isOpen) return;
    let isHeld = false;
    for (const entry of this.#entries) {
      if (!entry.isSent && (!isHeld || bypassesMoves(entry))) {
        entry.isSent = true;
        this.#write(entry.text);
      }
      isHeld ||= isMoveInFlight(entry) || isModeInFlight(entry);
    }
  }
}

const MESSAGES: ReadonlySet<CommandName> = new Set(['prompt', 'steer', 'follow_up', 'abort_and_prompt']);
const MOVES: ReadonlySet<CommandName> = new Set(['new_session', 'switch_session', 'fork', 'branch', 'clone']);

/** Whether the command carries a user message. */
export const isMessage = (type: CommandName): boolean => MESSAGES.has(type);

/** Whether the command moves the connection to another session. */
export const isMove = ({ type, detached, message }: Command): boolean =>
  isMessage(type) ? parseBuiltinMove(String(message)) !== undefined : MOVES.has(type) && detached !== true;

// Each of these replaces the state set by the one before.
const STATE_REPLACING: ReadonlySet<CommandName> = new Set(['hello', 'set_host_tools']);

const isSafeToResend = (record: Command) =>
  isMessage(record.type) ? !isMove(record) : STATE_REPLACING.has(record.type) || isReadOnly(record.type);

const isReadOnly = (type: CommandName) => commandRows[type].lane === 'read' && commandRows[type].scope === 'view';

const isMoveInFlight = ({ record, isSent }: OutboxEntry) => record !== undefined && isSent && isMove(record);

const isModeInFlight = ({ record, isSent }: OutboxEntry) => record?.type === 'set_approval_mode' && isSent;

/** Frames, control commands and reads wait for nothing. */
const bypassesMoves = ({ record }: OutboxEntry) => !record || /control|read/.test(commandRows[record.type].lane);

const longest = (entries: readonly OutboxEntry[]) =>
  entries.reduce<OutboxEntry | undefined>(
    (most, entry) => (entry.text.length > (most?.text.length ?? 0) ? entry : most),
    undefined,
  );

/** A dialog answer that is too large becomes a cancellation; host tools failed with the connection. */
const cancellationOf = ({ type, id }: Frame) =>
  type === 'extension_ui_response' ? escapeLineBreaks(JSON.stringify({ type, id, cancelled: true })) : undefined;

const tooLargeError = ({ command = '' }: OutboxEntry) =>
  new CommandFailed(command, 'invalid_params', 'This is more than the server takes');

const unknownOutcomeError = ({ command }: OutboxEntry) =>
  new ConnectionLost(`The connection was lost before "${command}" was answered: whether it was done is not known`);

const notSentError = ({ command }: OutboxEntry) =>
  new NotSent(`"${command}" was not sent: the connection was lost on the way to the session it was meant for`);
