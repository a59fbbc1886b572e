import type { CommandOutput } from '../agent/tools/command-output.ts';
import type { ShellOptions, ShellRun } from '../agent/tools/shell.ts';
import { unlessAborted } from '../agent/unless-aborted.ts';
import { Refusal } from '../protocol/errors.ts';
import type { BashCommand, BashExecutionMessage, BashResult } from '../protocol/generated/vocabulary.ts';
import { newUuid } from '../store/sessions/random-id.ts';
import type { SessionLog } from '../store/sessions/session-log.ts';
import { deliveredQueueIds } from './delivered.ts';
import type { SessionHooks } from './hooks.ts';
import { EscapeStripper, stripEscapes } from './strip-escapes.ts';
import { StorageFailure, type Transcript } from './transcript.ts';

/** Commands that clients may have running at the same time. */
const MAX_COMMANDS = 64;

/** The custom entries in which commands that ended during a run survive a crash. */
const SHELL_TYPE = 'tau:bash';

export interface ShellParts {
  readonly transcript: Transcript;
  readonly hooks: SessionHooks;
  readonly shell: () => ShellOptions;
  /** While it is, nothing may come between a tool call and its result. */
  readonly isRunning: () => boolean;
}

/** A command as a client sends it. */
export interface ShellRequest extends Readonly<BashCommand> {
  /** Hears what the command prints. Of what came while there was no room, only the end is told. */
  readonly onText: (text: string) => void;
  readonly canReceive: () => boolean;
}

/** A command that ended during a run, as it is stored until that is over. */
interface EndedCommand {
  readonly sessionId: string;
  readonly id: string;
  readonly message: BashExecutionMessage;
}

/** The commands that clients run beside the conversation. What they print becomes part of it when no run is active. */
export class ShellCommands {
  readonly #parts: ShellParts;
  readonly #running = new Map<
    AbortController,
    { readonly request: ShellRequest; readonly work: Promise<BashResult> }
  >();
  readonly #ended: EndedCommand[] = [];
  #isClosed = false;

  constructor(parts: ShellParts) {
    this.#parts = parts;
  }

  /** What runs now, in the order in which it was begun; undefined when nothing does. */
  get running(): BashCommand[] | undefined {
    if (this.#running.size === 0) return undefined;
    return [...this.#running.values()].map(({ request: { command, excludeFromContext } }) => {
      return { command, excludeFromContext };
    });
  }

  /** Runs a command to its end. Any number of them run side by side, also during a run. */
  async run(request: ShellRequest): Promise<BashResult> {
    if (this.#isClosed) throw new Refusal('overloaded', 'The agent is leaving the session');
    if (request.command.includes('\0'))
      throw new Refusal('invalid_params', 'Invalid parameters: command must not contain a null character');
    if (this.#running.size >= MAX_COMMANDS)
      throw new Refusal('overloaded', `More than ${MAX_COMMANDS} commands at once`);
    const controller = new AbortController();
    const work = this.#work(request, controller.signal);
    this.#running.set(controller, { request, work });
    try {
      return await work;
    } finally {
      this.#running.delete(controller);
    }
  }

  /** Kills every command; settles when they have ended and are stored. */
  async abort(): Promise<void> {
    const running = [...this.#running];
    for (const [controller] of running) controller.abort();
    await Promise.allSettled(running.map(([, { work }]) => work));
  }

  /** Kills every command and takes no other. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.abort();
  }

  /** Puts into the conversation what ended while it could not take it. What cannot be stored now waits on. */
  deliverEnded(): void {
    for (let [next] = this.#ended; next; [next] = this.#ended) {
      try {
        this.#parts.transcript.add(next.message, { queueId: next.id });
      } catch (error) {
        if (error instanceof StorageFailure) return;
        throw error;
      }
      this.#ended.shift();
    }
  }

  /** Puts into the conversation what a command came to that somebody else has run. */
  record({ command, excludeFromContext }: BashCommand, result: BashResult): void {
    const { output, exitCode, cancelled, truncated, fullOutputPath } = result;
    this.#store({
      role: 'bashExecution',
      command,
      output,
      exitCode,
      cancelled,
      truncated,
      fullOutputPath,
      timestamp: Date.now(),
      ...(excludeFromContext ? { excludeFromContext } : {}),
    });
  }

  async #work(request: ShellRequest, signal: AbortSignal): Promise<BashResult> {
    const result = await this.#resultOf(request, signal);
    this.record(request, result);
    return result;
  }

  #store(message: BashExecutionMessage): void {
    const { transcript, isRunning } = this.#parts;
    if (!isRunning()) {
      transcript.add(message);
      return;
    }
    const id = newUuid().slice(0, 8);
    const ended: EndedCommand = { sessionId: transcript.log.header.id, id, message };
    transcript.append({ type: 'custom', customType: SHELL_TYPE, data: ended });
    this.#ended.push(ended);
  }

  async #resultOf(request: ShellRequest, signal: AbortSignal): Promise<BashResult> {
    const { hooks, shell } = this.#parts;
    const { command, excludeFromContext } = request;
    const options = shell();
    const hookCall = hooks.userBash?.({ command, cwd: options.cwd, excludeFromContext }, signal);
    const hookResult = hookCall === undefined ? undefined : await unlessAborted(hookCall, signal);
    if (hookResult) return hookResult;
    const { runShell } = await import('../agent/tools/shell.ts');
    const text = new EscapeStripper();
    const newText = (output: CommandOutput) => {
      const { text: piece, skipped } = output.take();
      if (skipped > 0) text.end();
      return text.push(piece);
    };
    const sendOutput = (output: CommandOutput) => {
      if (request.canReceive()) request.onText(newText(output));
    };
    const run = await runShell(options, { command, seconds: 0, signal, onOutput: sendOutput });
    request.onText(newText(run.output) + text.end());
    if (run.exit.error) throw new Refusal('internal', run.exit.error.message, { cause: run.exit.error });
    return bashResult(run);
  }
}

/** How a command went, as clients are told. */
export const bashResult = ({ output, tail, exit, end }: ShellRun): BashResult => ({
  output: stripEscapes(tail.content),
  exitCode: end === 'aborted' ? null : exit.code,
  cancelled: end === 'aborted',
  truncated: tail.truncated,
  fullOutputPath: output.log?.path ?? null,
});

/** Puts into the conversation what ended during a run that a crash cut off. Entries copied from elsewhere do not count. */
export function recoverCommands(log: SessionLog): void {
  const ended: EndedCommand[] = [];
  for (const node of log.nodesOfKind(SHELL_TYPE)) {
    const entry = log.entry(node.id);
    const data = entry?.type === 'custom' ? (entry.data as EndedCommand | undefined) : undefined;
    if (data?.sessionId === log.header.id) ended.push(data);
  }
  if (ended.length === 0) return;
  const delivered = new Set(deliveredQueueIds(log));
  for (const { id, message } of ended.reverse()) {
    if (!delivered.has(id)) log.append({ type: 'message', queueId: id, message });
  }
}
