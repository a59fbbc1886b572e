import { type ReadonlySignal, signal } from '@preact/signals';
import type { ConversationView } from '../../../../client/view/view.ts';
import type { BashCommand } from '../../../../protocol/generated/vocabulary.ts';

const MAX_TAIL_LINES = 12;
const MAX_TAIL_CHARACTERS = 4000;

/** A shell command that was started in this tab. */
export interface UserShellRun extends ShellLine {
  readonly id: number;
  readonly sessionId: string | undefined;
  /** The end of its output. */
  readonly tail: string;
  /** Undefined while it runs; null when it was stopped. */
  readonly exitCode: number | null | undefined;
  /** Timestamps of earlier commands in the conversation. */
  readonly before: ReadonlySet<number>;
}

/** Shell commands of this tab, until the conversation contains them. */
export class ShellRuns {
  readonly #runs = signal<readonly UserShellRun[]>([]);
  #count = 0;

  get all(): ReadonlySignal<readonly UserShellRun[]> {
    return this.#runs;
  }

  /** Returns the running commands that were started elsewhere. */
  others(running: readonly BashCommand[] = []): readonly BashCommand[] {
    const own = this.#runs.value.map(({ command }) => command);
    return running.filter(({ command }) => {
      const at = own.indexOf(command);
      if (at !== -1) own.splice(at, 1);
      return at === -1;
    });
  }

  get isRunning(): boolean {
    return this.#runs.value.some(({ exitCode }) => exitCode === undefined);
  }

  start(line: ShellLine, view: ConversationView): number {
    const id = ++this.#count;
    const before = new Set(
      view.messages.flatMap((message) => (message.role === 'bashExecution' ? [message.timestamp] : [])),
    );
    const { sessionId } = view.state;
    this.#runs.value = [...this.#runs.value, { ...line, id, sessionId, before, tail: '', exitCode: undefined }];
    return id;
  }

  append(id: number, text: string): void {
    this.#update(id, (run) => ({ ...run, tail: tailOf(run.tail + text) }));
  }

  finish(id: number, exitCode: number | null): void {
    this.#update(id, (run) => ({ ...run, exitCode }));
  }

  remove(id: number): void {
    this.#runs.value = this.#runs.value.filter((run) => run.id !== id);
  }

  /** Removes commands that the conversation contains, and those of another session. */
  prune({ messages, state }: ConversationView): void {
    const runs = this.#runs.value;
    const isRecorded = ({ command, before }: UserShellRun) =>
      messages.some((one) => one.role === 'bashExecution' && one.command === command && !before.has(one.timestamp));
    // A command started before the session id was known belongs to the first session.
    const isInSession = ({ sessionId = state.sessionId }: UserShellRun) => sessionId === state.sessionId;
    const remaining = runs.filter((run) => isInSession(run) && (run.exitCode === undefined || !isRecorded(run)));
    if (remaining.length < runs.length) this.#runs.value = remaining;
  }

  #update(id: number, update: (run: UserShellRun) => UserShellRun): void {
    this.#runs.value = this.#runs.value.map((run) => (run.id === id ? update(run) : run));
  }
}

/** The last lines without overwritten text; of a very long line the end. */
const tailOf = (text: string): string =>
  text
    .split('\n')
    .map(withoutOverwritten)
    .join('\n')
    .slice(-MAX_TAIL_CHARACTERS)
    .split('\n')
    .slice(-MAX_TAIL_LINES - 1)
    .join('\n');

/** A carriage return at the end stays: it takes effect with the text after it. */
function withoutOverwritten(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\r') end--;
  return line.slice(line.lastIndexOf('\r', end - 1) + 1, end) + (end < line.length ? '\r' : '');
}

// A line for the shell.
interface ShellLine {
  readonly command: string;
  // Whether the output is kept from the model.
  readonly isPrivate: boolean;
}

/** Parses `!command`, and `!!command` for output that is kept from the model; undefined for other text. */
export function parseShellLine(text: string): ShellLine | undefined {
  if (!text.startsWith('!')) return undefined;
  const isPrivate = text.startsWith('!!');
  return { command: text.slice(isPrivate ? 2 : 1).trim(), isPrivate };
}
