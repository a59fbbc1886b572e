import { existsSync } from 'node:fs';
import type { AgentEvent, SessionState } from '../../protocol/generated/vocabulary.ts';
import type { ProcessExit } from '../../system/processes/process-group.ts';
import { toLine } from '../../wire/json-lines.ts';
import type { Listener, Request, Target } from '../sessions.ts';
import { type AgentCommand, AgentProcess } from './agent-process.ts';
import { Answer } from './answer.ts';
import { Calls, MAX_OPEN } from './calls.ts';

/** How long an agent may take until it answers for the first time. */
const START_MS = 60_000;

/** How long an agent may leave a `ping` unanswered before it is given up. */
const SILENCE_MS = 60_000;

/** Text that an agent may leave unread before more is refused. */
const MAX_UNREAD = 128 * 1024 * 1024;

const OVER = { code: 'internal', message: 'Pi process terminated before it answered' } as const;

/** What an agent says, in order. */
export interface Ear {
  /** `deliver` is to be called in its turn. */
  readonly answered: (deliver: () => void) => void;
  readonly heard: (event: AgentEvent, text: string) => void;
  readonly stumbled: (error: unknown) => void;
  /** It has ended, and everything it has said was handed over. */
  readonly gone: (exit: ProcessExit) => void;
}

interface Asking {
  readonly answered: (answer: Answer) => void;
  /** Called when the answer comes in, ahead of its turn. */
  readonly arrived?: () => void;
  readonly asker?: Listener | undefined;
}

/** An agent that runs, and the requests on their way to it. */
export class HostedAgent {
  readonly #process: AgentProcess;
  readonly #calls = new Calls();
  readonly #ear: Ear;
  readonly #watch: NodeJS.Timeout;
  #unanswered = 0;
  #isOver = false;

  constructor({ args, ...command }: AgentCommand, target: Target, ear: Ear) {
    this.#ear = ear;
    const cwd = existsSync(target.cwd) ? target.cwd : process.cwd();
    const words = ['--mode', 'rpc', '--stream', 'delta', '--on-eof', 'abort', ...sessionArgs(target)];
    this.#process = new AgentProcess({ ...command, args: [...args, ...words], cwd }, (text) => this.#receive(text));
    this.#watch = setInterval(() => this.#look(), SILENCE_MS / 2).unref();
    void this.#process.exited.then((exit) => this.#ended(exit));
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Whether a client waits for an answer. */
  get isAsked(): boolean {
    return this.#calls.isAsked;
  }

  /** Whether more would be too much. */
  get isOverloaded(): boolean {
    return this.#calls.size >= MAX_OPEN || this.#process.unread > MAX_UNREAD;
  }

  /** The state of the agent, as soon as it tells it. Fails when it never does, with the reason. */
  start(hello: object): Promise<SessionState> {
    return new Promise((resolve, reject) => {
      const failed = (reason: string) => reject(new Error(`Failed to spawn Pi process: ${reason}`));
      const late = setTimeout(() => {
        failed('it does not answer');
        void this.#process.kill();
      }, START_MS).unref();
      void this.#process.exited.then((exit) => failed(reasonOf(exit, this.#process.complaint)));
      this.ask({ type: 'hello', ...hello }, { answered: () => {} });
      const answered = (answer: Answer) => {
        clearTimeout(late);
        if (answer.success) resolve(answer.data() as SessionState);
        else if (!this.#isOver) {
          failed('it does not tell its state');
          void this.#process.kill();
        }
      };
      this.ask({ type: 'get_state' }, { answered });
    });
  }

  ask(request: Request, asking: Asking): void {
    this.askTogether([[request, asking]]);
  }

  /** Asks several things at once, so that hardly anything happens between the answers. */
  askTogether(requests: readonly (readonly [Request, Asking])[]): void {
    if (this.#isOver) {
      for (const [{ type }, { answered }] of requests) this.#ear.answered(() => answered(Answer.refusal(type, OVER)));
    } else this.#process.write(requests.map(([request, asking]) => this.#calls.begin(request, asking)).join(''));
  }

  /** Hands over what gets no answer. */
  tell(frame: object): void {
    this.#process.write(toLine(frame));
  }

  /** Who asked for something that is not answered yet, and under which name. */
  askerOf(id: unknown): { readonly asker: Listener | undefined; readonly name: unknown } | undefined {
    return this.#calls.find(id);
  }

  /** Lets it store everything and leave. */
  async end(): Promise<void> {
    clearInterval(this.#watch);
    await this.#process.end();
  }

  #receive(text: string): void {
    const read = Answer.read(text);
    if (read) {
      this.#answered(read.id, read.answer);
      return;
    }
    const record = recordIn(text);
    if (record?.['type'] === 'response') this.#answered(String(record['id']), Answer.of(record));
    else if (record) this.#hear(record as unknown as AgentEvent, text);
  }

  /** What an agent says that is no tau may lack anything. */
  #hear(event: AgentEvent, text: string): void {
    try {
      this.#ear.heard(event, text);
    } catch (error) {
      this.#ear.stumbled(error);
    }
  }

  #answered(id: string, answer: Answer): void {
    const open = this.#calls.take(id);
    if (!open) return;
    open.arrived?.();
    this.#ear.answered(() => open.answered(answer));
  }

  #ended(exit: ProcessExit): void {
    clearInterval(this.#watch);
    this.#isOver = true;
    this.#ear.answered(() => this.#calls.fail(OVER.message));
    this.#ear.gone(exit);
  }

  /** One that does not even answer this is stuck for good. */
  #look(): void {
    if (this.#unanswered > 1) {
      void this.#process.kill();
      return;
    }
    this.#unanswered++;
    const answered = () => {
      this.#unanswered = 0;
    };
    this.ask({ type: 'ping' }, { answered });
  }
}

const sessionArgs = (target: Target) =>
  target.kind === 'new' ? ['--session-id', target.id] : ['--session', target.path];

function reasonOf({ error, code, signal }: ProcessExit, complaint: string): string {
  // What a shell says of a command that there is not.
  if (error?.code === 'ENOENT' || code === 127) return 'command not found';
  return error?.message ?? (complaint.replace(/^tau: /, '') || `it ended with ${code ?? signal}`);
}

/** What a wrapper script prints is no record. */
function recordIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const { type } = (value ?? {}) as { type?: unknown };
    return typeof type === 'string' ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
