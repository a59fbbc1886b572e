import { existsSync } from 'node:fs';
import { messageOf, Refusal } from '../../protocol/errors.ts';
import type { RunJournal } from '../../store/run-journal.ts';
import { SessionLock } from '../../store/sessions/session-lock.ts';
import { realPath } from '../../system/files/real-path.ts';
import type { Handle, Listener, Request, Sessions, Target } from '../sessions.ts';
import type { AgentCommand } from './agent-process.ts';
import type { Answer } from './answer.ts';
import { Host } from './host.ts';
import { MemoryJournal } from './memory-journal.ts';
import type { Ownership } from './ownership.ts';

/** How long it is tried to take over a session that somebody else is about to leave. */
const IN_USE_MS = 3000;
const RETRY_MS = 100;

/** Sessions without a message that are remembered while no agent is in them: nothing of them is on disk. */
const MAX_REMEMBERED = 10_000;

/** Which part of the room for agents may be taken before anybody has come. */
const PREPARED = 0.5;

interface Options {
  readonly agent: AgentCommand;
  readonly ownership: Ownership;
  readonly marks: RunJournal;
  readonly parkAfterMs: number;
  readonly maxHosts: number;
  readonly crashed: (sessionId: string, how: string) => void;
  /** An agent could not be started. */
  readonly failed: (sessionId: string, why: string) => void;
  /** Something went wrong that is no fault of an agent. */
  readonly stumbled: (error: unknown) => void;
}

/** The sessions of this machine: one agent for each that somebody is in, or that has something to do. */
export class LocalSessions implements Sessions {
  readonly #options: Options;
  readonly #hosts = new Set<Host>();
  /** Where sessions were that have left nothing on disk. */
  readonly #folders = new Map<string, string>();
  #isClosing = false;

  constructor(options: Options) {
    this.#options = options;
  }

  get hosts(): ReadonlySet<Host> {
    return this.#hosts;
  }

  /** The one in which a session lives now. */
  find(sessionId: string): Host | undefined {
    return [...this.#hosts].find((host) => host.sessionId === sessionId && !host.leaving);
  }

  statusOf(sessionId: string) {
    return this.find(sessionId)?.status;
  }

  fileOf(sessionId: string): string | undefined {
    const { sessionFile } = this.find(sessionId) ?? {};
    return sessionFile !== undefined && existsSync(sessionFile) ? sessionFile : undefined;
  }

  folderOf(sessionId: string): string | undefined {
    // Also of one that is about to leave.
    return [...this.#hosts].find((host) => host.sessionId === sessionId)?.cwd ?? this.#folders.get(sessionId);
  }

  async ask(target: Target, request: Request): Promise<Answer | undefined> {
    const host = await this.#hostIn(target);
    return host && new Promise((resolve) => host.send(request, undefined, resolve));
  }

  async letGo(target: Target): Promise<boolean> {
    const host = await this.#hostIn(target);
    if (host && (host.clients > 0 || host.status !== 'idle')) return false;
    await host?.close();
    return true;
  }

  async open(target: Target, listener: Listener): Promise<Handle> {
    const host = await this.#hostOf(target);
    let isOpen = true;
    return {
      get sessionId() {
        return host.sessionId;
      },
      get cwd() {
        return host.cwd;
      },
      attach: (wish) => host.attach(listener, wish),
      send: (request, answered) => host.send(request, listener, answered),
      frame: (frame) => host.frame(frame, listener),
      brokenFrame: (frame) => host.brokenFrame(frame, listener),
      wantsChanged: () => host.wantsChanged(),
      follow: () => host.follow(listener),
      close: async (how) => {
        if (!isOpen) return;
        isOpen = false;
        await host.detach(listener, how);
      },
    };
  }

  async prepare(target: Target): Promise<void> {
    const hasRoom = this.#hosts.size < this.#options.maxHosts * PREPARED;
    const isHere = [...this.#hosts].some(({ sessionId }) => sessionId === target.id);
    if (this.#isClosing || !hasRoom || isHere) return;
    try {
      await (await this.#begin(target)).start();
    } catch {
      // Whoever comes is told.
    }
  }

  /** Lets every agent store what it has and leave. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all([...this.#hosts].map((host) => host.close()));
  }

  async #hostOf(target: Target): Promise<Host> {
    for (const deadline = performance.now() + IN_USE_MS; ; ) {
      if (this.#isClosing) throw new Refusal('overloaded', 'The server is shutting down');
      await this.#left(target.id);
      const host = this.find(target.id) ?? (await this.#begin(this.#asLeft(target)));
      if (isOtherFile(host, target)) throw inUse(`A session with the same id is in use: ${nameOf(target)}`);
      try {
        await host.start();
        if (host.leaving !== undefined) continue;
        host.expect();
        return host;
      } catch (error) {
        const held = await holderOf(target);
        if (!held) {
          this.#options.failed(target.id, messageOf(error));
          throw error;
        }
        if (performance.now() > deadline) throw held;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  /** The one that this very session lives in, once nobody is about to leave it. */
  async #hostIn(target: Target): Promise<Host | undefined> {
    await this.#left(target.id);
    const host = this.find(target.id);
    return host && isOtherFile(host, target) ? undefined : host;
  }

  /** Settles when no agent is about to leave the session any more. */
  async #left(sessionId: string): Promise<void> {
    await [...this.#hosts].find((host) => host.sessionId === sessionId && host.leaving)?.leaving;
  }

  async #begin(target: Target): Promise<Host> {
    const { agent, marks, parkAfterMs, maxHosts, ownership, crashed, stumbled } = this.#options;
    if (this.#hosts.size >= maxHosts) await this.#makeRoom();
    if (this.#hosts.size >= maxHosts) throw new Refusal('overloaded', `No more than ${maxHosts} sessions at a time`);
    const claim = await ownership.claim(target.id);
    const host = this.find(target.id);
    if (host) {
      await claim?.release();
      return host;
    }
    if (!claim) throw inUse(`Session is in use elsewhere: ${target.id}`);
    let held = claim;
    const journal = new MemoryJournal({ isLost: () => held.lost.aborted });
    const over = () => {
      this.#hosts.delete(begun);
      this.#remember(begun);
      void held.release();
    };
    const moved = async (sessionId: string) => {
      const next = await ownership.claim(sessionId);
      if (!next) return;
      void held.release();
      held = next;
    };
    const news = { over, moved, stumbled, crashed: (how: string) => crashed(begun.sessionId, how) };
    const begun = new Host({ target, agent, journal, marks, parkAfterMs, news });
    this.#hosts.add(begun);
    return begun;
  }

  /** Lets the agent leave that was started first among those that nobody needs. */
  async #makeRoom(): Promise<void> {
    const unneeded = [...this.#hosts].find(({ clients, status }) => clients === 0 && status === 'idle');
    await unneeded?.close();
  }

  #remember({ sessionId, sessionFile, cwd, hasBegun }: Host): void {
    this.#folders.delete(sessionId);
    // What was on disk before an agent came, and is not there now, was deleted.
    if (sessionFile !== undefined && (!hasBegun || existsSync(sessionFile))) return;
    this.#folders.set(sessionId, cwd);
    const [oldest] = this.#folders.keys();
    if (this.#folders.size > MAX_REMEMBERED && oldest !== undefined) this.#folders.delete(oldest);
  }

  /** The agent that was in it may just have left, and without a message nothing stays on disk. */
  #asLeft(target: Target): Target {
    const cwd = this.#folders.get(target.id);
    if (cwd === undefined || target.kind === 'new' || existsSync(target.path)) return target;
    return { kind: 'new', id: target.id, cwd };
  }
}

const inUse = (reason: string) => new Refusal('session_in_use', reason);

/** Whether it only has the same id: files can be copied. */
const isOtherFile = ({ sessionFile }: Host, target: Target) =>
  target.kind === 'stored' && sessionFile !== undefined && realPath(sessionFile) !== realPath(target.path);

const nameOf = (target: Target) => (target.kind === 'stored' ? target.path : target.id);

/** Why an agent could not be started, if that is because another process is in the session. */
async function holderOf(target: Target): Promise<Refusal | undefined> {
  if (target.kind === 'new') return undefined;
  try {
    await (await SessionLock.acquire(target.path)).release();
    return undefined;
  } catch (error) {
    return error instanceof Refusal ? error : undefined;
  }
}
