import { batchedWrite } from '../../../system/batched-write.ts';
import { type ProcessExit, spawnPiped } from '../../../system/processes/process-group.ts';
import { type InputLine, LineReader, MAX_RECORD_BYTES } from '../../../wire/json-lines.ts';

/** The command line and environment of an agent. */
export interface AgentLaunch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Consumers of the output of an agent. */
interface AgentOutput {
  /** Called for each line of stdout. */
  readonly onLine: (text: string) => void;
  /** Called for every piece of stdout, also within a line. */
  readonly onOutput: () => void;
  readonly stderrLines: LimitedLines;
}

// How long an agent may take to store everything and exit before it is killed.
const AGENT_EXIT_MS = 5000;

const STDERR_KEPT = 8 * 1024;

/** An agent as a child process, with its pipes. */
export class AgentProcess {
  /** Settles when the process has exited and all of its output was delivered. */
  readonly exited: Promise<ProcessExit>;
  readonly pid: number | undefined;
  readonly #child: ReturnType<typeof spawnPiped>;
  readonly #write: ((text: string) => boolean) | undefined;
  #stderr = '';

  constructor(options: AgentLaunch & { readonly cwd: string }, { onLine, onOutput, stderrLines }: AgentOutput) {
    this.#child = spawnPiped({ ...options, family: 'agents' });
    this.pid = this.#child.pid;
    const reader = new LineReader(MAX_RECORD_BYTES);
    const handleLines = (lines: InputLine[]) => {
      for (const line of lines) if ('text' in line) onLine(line.text);
    };
    const { stdin, stdout, stderr } = this.#child.pipes ?? {};
    stdin?.on('error', () => {});
    this.#write = stdin && batchedWrite(stdin);
    stdout?.on('data', (chunk: Buffer) => {
      onOutput();
      handleLines(reader.push(chunk));
    });
    stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_KEPT);
      stderrLines.push(text);
    });
    stderr?.once('end', () => stderrLines.end());
    const stdoutClosed = new Promise<void>((resolve) => {
      if (!stdout) resolve();
      stdout?.once('end', () => handleLines(reader.end())).once('close', resolve);
    });
    this.exited = this.#child.exited.then(async (exit) => {
      // Children of the agent may hold the pipe open.
      await this.#child.kill();
      await Promise.race([stdoutClosed, new Promise((resolve) => setTimeout(resolve, AGENT_EXIT_MS).unref())]);
      return exit;
    });
  }

  get lastStderrLine(): string {
    return this.#stderr.trim().split('\n').at(-1) ?? '';
  }

  /** Bytes that the agent has not read yet. */
  get unreadBytes(): number {
    return this.#child.pipes?.stdin.writableLength ?? 0;
  }

  setReading(isReading: boolean): void {
    const { stdout } = this.#child.pipes ?? {};
    if (isReading) stdout?.resume();
    else stdout?.pause();
  }

  write(lines: string): void {
    if (this.#child.pipes?.stdin.writable) this.#write?.(lines);
  }

  /** Closes stdin, so that the agent stores everything and exits; kills it on timeout. */
  async end(): Promise<void> {
    this.#child.pipes?.stdin.end();
    const timer = setTimeout(() => void this.#child.kill(), AGENT_EXIT_MS);
    await this.exited;
    clearTimeout(timer);
  }

  async kill(): Promise<void> {
    await this.#child.kill();
    await this.exited;
  }
}

// Longer lines are cut.
const MAX_STDERR_LINE = 1000;

// Lines of one agent that are passed on in a window; the others are counted.
const MAX_STDERR_LINES = 50;
const STDERR_WINDOW_MS = 10_000;

interface LineCallbacks {
  readonly onLine: (line: string) => void;
  /** Called when the next window begins, or at the end. */
  readonly onOmitted: (lines: number) => void;
}

/** Cuts text of an agent, such as its stderr, into lines: of limited length, and a limited number in a window of time. */
export class LimitedLines {
  readonly #callbacks: LineCallbacks;
  #rest = '';
  #windowStart = 0;
  #lines = 0;

  constructor(callbacks: LineCallbacks) {
    this.#callbacks = callbacks;
  }

  push(text: string, now = performance.now()): void {
    const lines = text.split('\n');
    const rest = lines.pop() ?? '';
    for (const line of lines) this.#emit(line, now);
    this.#rest = (this.#rest + rest).slice(0, MAX_STDERR_LINE + 1);
  }

  /** Passes on the last line without a line break, and the number of omitted lines. */
  end(now = performance.now()): void {
    if (this.#rest !== '') this.#emit('', now);
    this.#reportOmitted();
  }

  #emit(end: string, now: number): void {
    const line = (this.#rest + end).trimEnd();
    this.#rest = '';
    if (line === '') return;
    if (now - this.#windowStart >= STDERR_WINDOW_MS) {
      this.#reportOmitted();
      this.#windowStart = now;
    }
    this.#lines++;
    if (this.#lines > MAX_STDERR_LINES) return;
    this.#callbacks.onLine(line.length > MAX_STDERR_LINE ? `${line.slice(0, MAX_STDERR_LINE)}…` : line);
  }

  #reportOmitted(): void {
    const omitted = this.#lines - MAX_STDERR_LINES;
    this.#lines = 0;
    if (omitted > 0) this.#callbacks.onOmitted(omitted);
  }
}
