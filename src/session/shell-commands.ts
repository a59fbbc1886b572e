import type { CommandOutput } from '../agent/tools/command-output.ts';
import type { ShellOptions, ShellRun } from '../agent/tools/shell.ts';
import { unlessAborted } from '../agent/unless-aborted.ts';
import { Refusal } from '../protocol/errors.ts';
import type { BashExecutionMessage, BashResult } from '../protocol/generated/vocabulary.ts';
import { newUuid } from '../store/sessions/random-id.ts';
import { deliveredIn } from './delivered.ts';
import type { SessionHooks } from './hooks.ts';
import { PlainText, plain } from './plain-text.ts';
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
export interface ShellRequest {
  readonly command: string;
  readonly excludeFromContext: boolean;
  /** Hears what the command prints. Of what came while there was no room, only the end is told. */
  readonly onText: (text: string) => void;
  readonly hasRoom: () => boolean;
}

/** The commands that clients run beside the conversation. What they print becomes part of it when no run is active. */
export class ShellCommands {
  readonly #parts: ShellParts;
  readonly #running = new Map<AbortController, Promise<unknown>>();
  #ended: { readonly id: string; readonly message: BashExecutionMessage }[];

  constructor(parts: ShellParts) {
    this.#parts = parts;
    this.#ended = restore(parts.transcript);
    this.settle();
  }

  /** Runs a command to its end. Any number of them run side by side, also during a run. */
  async run(request: ShellRequest): Promise<BashResult> {
    if (this.#running.size >= MAX_COMMANDS)
      throw new Refusal('overloaded', `More than ${MAX_COMMANDS} commands at once`);
    const controller = new AbortController();
    const result = this.#resultOf(request, controller.signal);
    this.#running.set(controller, result);
    try {
      const { output, exitCode, cancelled, truncated, fullOutputPath } = await result;
      const { command, excludeFromContext } = request;
      this.#keep({
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
      return await result;
    } finally {
      this.#running.delete(controller);
    }
  }

  /** Kills every command; settles when they have ended and are stored. */
  async abort(): Promise<void> {
    const running = [...this.#running];
    for (const [controller] of running) controller.abort();
    await Promise.allSettled(running.map(([, result]) => result));
  }

  /** Puts into the conversation what ended while it could not take it. What cannot be stored now waits on. */
  settle(): void {
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

  #keep(message: BashExecutionMessage): void {
    const { transcript, isRunning } = this.#parts;
    if (!isRunning()) {
      transcript.add(message);
      return;
    }
    const id = newUuid().slice(0, 8);
    const data = { sessionId: transcript.log.header.id, id, message };
    transcript.append({ type: 'custom', customType: SHELL_TYPE, data });
    this.#ended.push({ id, message });
  }

  async #resultOf(request: ShellRequest, signal: AbortSignal): Promise<BashResult> {
    const { hooks, shell } = this.#parts;
    const { command, excludeFromContext } = request;
    const options = shell();
    const asked = hooks.userBash?.({ command, cwd: options.cwd, excludeFromContext }, signal);
    const replaced = asked === undefined ? undefined : await unlessAborted(asked, signal);
    if (replaced) return replaced;
    const { runShell } = await import('../agent/tools/shell.ts');
    const text = new PlainText();
    const tell = (output: CommandOutput) => {
      if (request.hasRoom()) request.onText(text.take(output.take().text));
    };
    const run = await runShell(options, { command, seconds: 0, signal, onOutput: tell });
    request.onText(text.take(run.output.take().text) + text.end());
    if (run.exit.error) throw new Refusal('internal', run.exit.error.message, { cause: run.exit.error });
    return resultOf(run);
  }
}

const resultOf = ({ output, tail, exit, end }: ShellRun): BashResult => ({
  output: plain(tail.content),
  exitCode: end === 'aborted' ? null : exit.code,
  cancelled: end === 'aborted',
  truncated: tail.truncated,
  fullOutputPath: output.log?.path ?? null,
});

/** What ended in this session during a run that never did. Entries copied from another one do not count. */
function restore({ log }: Transcript) {
  const ended: { id: string; message: BashExecutionMessage }[] = [];
  for (const node of log.named(SHELL_TYPE)) {
    const entry = log.entry(node.id);
    const data =
      entry?.type === 'custom'
        ? (entry.data as ((typeof ended)[number] & { sessionId: string }) | undefined)
        : undefined;
    if (data?.sessionId === log.header.id) ended.push({ id: data.id, message: data.message });
  }
  if (ended.length === 0) return [];
  const delivered = new Set(deliveredIn(log));
  return ended.reverse().filter(({ id }) => !delivered.has(id));
}
