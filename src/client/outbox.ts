import { parseBuiltinMove } from '../protocol/builtin-moves.ts';
import { commandRows } from '../protocol/generated/command-rows.ts';
import type { CommandName, Frame } from '../protocol/generated/vocabulary.ts';
import { escapeLineBreaks } from '../wire/json-lines.ts';
import { type WireRecord, settleCommand, type PendingCommand } from './response.ts';
import { CommandFailed } from './command-failed.ts';
import { ConnectionLost, NotSent, Withdrawn } from './connection-lost.ts';

/** Commands that may wait for their answers, sent or not; more are refused. */
export const MAX_OUTBOX_COMMANDS = 1000;

/** More is asked for than can wait for an answer. */
export class OutboxFull extends Error {
  override readonly name = 'OutboxFull';
}

/** A message that the server has not acknowledged. */
export interface OutboxItem {
  readonly clientMessageId: string;
  readonly text: string;
  /** `waiting`: for a connection. `sent`: for the acknowledgement. */
  readonly state: 'waiting' | 'sent';
  /** It was sent over a connection that is lost: it is sent again, and cannot be taken back. */
  readonly mayHaveArrived?: true | undefined;
}

/** A command with its id, as it is sent. */
export interface Command {
  readonly id: string;
  readonly type: CommandName;
  readonly message?: unknown;
  readonly clientMessageId?: unknown;
  readonly detached?: unknown;
}

interface OutboxEntry extends Partial<PendingCommand> {
  /** Undefined for what gets no answer. */
  readonly record: Command | undefined;
  /** Of what gets no answer: what to send if the server takes no more. */
  readonly fallback?: string | undefined;
  readonly text: string;
  /** Whether it does no harm to send it a second time. */
  readonly isResendable: boolean;
  isSent: boolean;
  mayHaveArrived?: true;
}

/**
 * What is to be sent, in order, and what was sent and not answered. Everything that is safe to send again survives a lost
 * connection: messages, by their ids; what only reads; answers to dialogs. What is not fails, since nobody knows whether
 * it was done.
 */
export class Outbox {
  readonly #write: (text: string) => void;
  #entries: readonly OutboxEntry[] = [];
  #isOpen = false;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** The messages of this client that were not acknowledged, in order. */
  get items(): readonly OutboxItem[] {
    return this.#entries.flatMap(({ record, isSent, mayHaveArrived }) => {
      if (!record || !isMessage(record.type)) return [];
      const { clientMessageId, message } = record;
      const state = isSent ? 'sent' : 'waiting';
      return [{ clientMessageId: String(clientMessageId), text: String(message), state, mayHaveArrived } as const];
    });
  }

  /** Sends a command as soon as that can be; answers what the agent does. */
  sendCommand(record: Command): Promise<unknown> {
    if (this.#entries.filter((entry) => entry.record).length < MAX_OUTBOX_COMMANDS) return this.sendUnlimited(record);
    return Promise.reject(
      new OutboxFull(`${MAX_OUTBOX_COMMANDS} commands wait for an answer: "${record.type}" was not taken`),
    );
  }

  /** The same for what the connection itself needs: it is never one too many. */
  sendUnlimited(record: Command): Promise<unknown> {
    return this.#enqueue(record, (entry) => [...this.#entries, entry]);
  }

  /** Sends a command ahead of everything that waits, over this connection and no other. */
  sendFirst(record: Command): Promise<unknown> {
    return this.#enqueue(record, (entry) => [{ ...entry, isResendable: false }, ...this.#entries]);
  }

  /**
   * Sends what gets no answer. Progress is worth nothing later. The rest is kept until the server must have read it, all of
   * it: the agent waits for each, and there is no more than it has asked for.
   */
  sendFrame(frame: Frame): void {
    const text = escapeLineBreaks(JSON.stringify(frame));
    const entry = { record: undefined, text, fallback: cancellationOf(frame), isResendable: true, isSent: false };
    const isProgress = frame.type === 'host_tool_update';
    if (isProgress && this.#isOpen) this.#write(text);
    if (isProgress) return;
    this.#entries = [...this.#entries, entry];
    this.#flush();
  }

  /** Does not send a message that was never sent, and rejects it; answers whether there is one. */
  withdraw(clientMessageId: string): boolean {
    const withdrawn = this.#entries.find(
      ({ record, isSent, mayHaveArrived }) => record?.clientMessageId === clientMessageId && !isSent && !mayHaveArrived,
    );
    this.#entries = this.#entries.filter((entry) => entry !== withdrawn);
    withdrawn?.reject?.(new Withdrawn('It was taken back'));
    return withdrawn !== undefined;
  }

  /** There is a connection: sends what waits. */
  open(): void {
    this.#isOpen = true;
    this.#flush();
  }

  /** The connection is gone. `wasTooBig`: because of something that the server would not take. */
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

  /** Ends the wait of whoever asked; answers the command, if it was one of these. */
  handleResponse(response: WireRecord): Command | undefined {
    const index = this.#entries.findIndex(({ record }) => record?.id === response['id']);
    const entry = this.#entries[index];
    if (!entry?.record || !entry.isSent) return undefined;
    // The server reads in order: what was sent before this has arrived.
    this.#entries = this.#entries.filter(
      (other, otherIndex) => other !== entry && !(otherIndex < index && !other.record && other.isSent),
    );
    settleCommand(entry as PendingCommand, response);
    this.#flush();
    return entry.record;
  }

  /** Nothing will be sent any more. */
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

  /** What follows a move is meant for the session that is gone to: it waits until there is one. */
  #flush(): void {
    if (!this.#isOpen) return;
    let isMoving = false;
    for (const entry of this.#entries) {
      if (!entry.isSent && (!isMoving || bypassesMoves(entry))) {
        entry.isSent = true;
        this.#write(entry.text);
      }
      isMoving ||= isMoveInFlight(entry);
    }
  }
}

const MESSAGES: ReadonlySet<CommandName> = new Set(['prompt', 'steer', 'follow_up', 'abort_and_prompt']);
const MOVES: ReadonlySet<CommandName> = new Set(['new_session', 'switch_session', 'fork', 'branch', 'clone']);

/** Whether the command carries something that the user said. */
export const isMessage = (type: CommandName): boolean => MESSAGES.has(type);

/** Whether the connection is in another session after it. */
export const isMove = ({ type, detached, message }: Command): boolean =>
  isMessage(type) ? parseBuiltinMove(String(message)) !== undefined : MOVES.has(type) && detached !== true;

/** What replaces all that was said before, by the same. */
const STATE_REPLACING: ReadonlySet<CommandName> = new Set(['hello', 'set_host_tools']);

const isSafeToResend = (record: Command) =>
  isMessage(record.type) ? !isMove(record) : STATE_REPLACING.has(record.type) || isReadOnly(record.type);

const isReadOnly = (type: CommandName) => commandRows[type].lane === 'read' && commandRows[type].scope === 'view';

const isMoveInFlight = ({ record, isSent }: OutboxEntry) => record !== undefined && isSent && isMove(record);

/** What answers a question, controls or only reads never waits behind work. */
const bypassesMoves = ({ record }: OutboxEntry) => !record || /control|read/.test(commandRows[record.type].lane);

const longest = (entries: readonly OutboxEntry[]) =>
  entries.reduce<OutboxEntry | undefined>(
    (most, entry) => (entry.text.length > (most?.text.length ?? 0) ? entry : most),
    undefined,
  );

/** A dialog is called off by whoever has no answer that could be sent; tools have failed with the connection. */
const cancellationOf = ({ type, id }: Frame) =>
  type === 'extension_ui_response' ? escapeLineBreaks(JSON.stringify({ type, id, cancelled: true })) : undefined;

const tooLargeError = ({ command = '' }: OutboxEntry) =>
  new CommandFailed(command, 'invalid_params', 'This is more than the server takes');

const unknownOutcomeError = ({ command }: OutboxEntry) =>
  new ConnectionLost(`The connection was lost before "${command}" was answered: whether it was done is not known`);

const notSentError = ({ command }: OutboxEntry) =>
  new NotSent(`"${command}" was not sent: the connection was lost on the way to the session it was meant for`);
