import type { CommandOutput } from '../agent/tools/bash/command-output.ts';
import type { ShellOptions, ShellRun } from '../agent/tools/bash/shell.ts';
import { unlessAborted } from '../agent/unless-aborted.ts';
import { Refusal } from '../protocol/errors.ts';
import type { BashCommand, BashExecutionMessage, BashResult } from '../protocol/generated/vocabulary.ts';
import { newUuid } from '../store/sessions/random-id.ts';
import type { SessionLog } from '../store/sessions/session-log.ts';
import type { SessionHooks } from './hooks.ts';
import { deliveredQueueIds } from './input/queue.ts';
import { EscapeStripper, lastLineStates, stripEscapes } from './strip-escapes.ts';
import { StorageFailure, type Transcript } from './transcript.ts';

// Shell commands of clients that may run at the same time.
const MAX_COMMANDS = 64;

// `customType` of the entries in which commands that ended during a run survive a crash.
const SHELL_TYPE = 'tau:bash';

export interface ShellParts {
  readonly transcript: Transcript;
  readonly hooks: SessionHooks;
  readonly shell: () => ShellOptions;
  /** During a run nothing may come between a tool call and its result. */
  readonly isRunning: () => boolean;
}

/** A shell command as a client sends it. */
export interface ShellRequest extends Readonly<BashCommand> {
  /** Receives the output. Of output that arrived while `canReceive` was false, only the end is sent. */
  readonly onText: (text: string) => void;
  readonly canReceive: () => boolean;
  /** Whether the text keeps its carriage returns. */
  readonly carriageReturns?: boolean | undefined;
  /** Runs the command instead of a shell. */
  readonly execute?: ((cwd: string, signal: AbortSignal) => Promise<BashResult>) | undefined;
}

// A command that ended during a run, as it is stored until the run ends.
interface EndedCommand {
  readonly sessionId: string;
  readonly id: string;
  readonly message: BashExecutionMessage;
}

/** Shell commands of clients. Their output joins the conversation when no run is active. */
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

  /** The running commands in starting order; undefined when there are none. */
  get running(): BashCommand[] | undefined {
    if (this.#running.size === 0) return undefined;
    return [...this.#running.values()].map(({ request: { command, excludeFromContext } }) => {
      return { command, excludeFromContext };
    });
  }

  /** Whether commands that ended during a run wait for its end. */
  get hasEnded(): boolean {
    return this.#ended.length > 0;
  }

  /** Runs a command to its end. Commands run in parallel, also during a run. */
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

  /** Kills every command and rejects new ones. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.abort();
  }

  /** Adds commands that ended during a run to the conversation. Those that cannot be stored stay pending. */
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

  /** Adds the result of a command that another program ran. */
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
    if (request.execute) return request.execute(options.cwd, signal);
    const { runShell, timeoutFor, timeoutText } = await import('../agent/tools/bash/shell.ts');
    const text = new EscapeStripper(request.carriageReturns);
    const newText = (output: CommandOutput) => {
      const { text: piece, skipped } = output.takeNew();
      if (skipped > 0) text.end();
      return text.push(piece);
    };
    const sendOutput = (output: CommandOutput) => {
      if (request.canReceive()) request.onText(newText(output));
    };
    // The default is for calls of the model: a user may start a server.
    const timeout = timeoutFor(0, { ...options.timeouts, defaultTimeoutSeconds: 0 });
    const job = { command, timeoutSeconds: timeout.seconds, signal, onOutput: sendOutput };
    const run = await runShell(options, job);
    const notice = run.end === 'timed out' ? `\n\n${timeoutText(timeout)}` : '';
    request.onText(newText(run.output) + text.end() + notice);
    if (run.exit.error) throw new Refusal('internal', run.exit.error.message, { cause: run.exit.error });
    const result = bashResult(run);
    return { ...result, output: result.output + notice };
  }
}

/** The result of a command as clients receive it. */
export const bashResult = ({ output, tail, exit, end }: ShellRun): BashResult => ({
  output: stripEscapes(lastLineStates(tail.content)),
  exitCode: end === 'aborted' ? null : exit.code,
  cancelled: end === 'aborted',
  truncated: tail.truncated,
  fullOutputPath: output.log?.path ?? null,
});

/** Adds commands that ended during an interrupted run. Entries copied from another session do not count. */
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
