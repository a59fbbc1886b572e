import { existsSync } from 'node:fs';
import { messageOf, Refusal } from '../../protocol/errors.ts';
import { commandRows } from '../../protocol/generated/command-rows.ts';
import { SessionLock } from '../../store/sessions/session-lock.ts';
import { realPath } from '../../system/files/real-path.ts';
import type { AgentResponse } from '../agent-response.ts';
import type {
  Access,
  CommandRequest,
  SessionHandle,
  Sessions,
  SessionTarget,
  StopExtent,
  Subscriber,
} from '../sessions.ts';
import type { AgentActivity } from './agent/hosted-agent.ts';
import { Host } from './host.ts';
import type { HostOptions } from './host-options.ts';
import type { OwnedSession, SessionStorage } from './storage/session-storage.ts';

// How long the server retries to open a session that another process is about to close.
const IN_USE_TIMEOUT_MS = 3000;
const OPEN_RETRY_MS = 100;

// Sessions without messages leave no file; their folders are remembered up to this number.
const MAX_REMEMBERED_FOLDERS = 10_000;

// The share of `maxHosts` that prewarmed agents may use.
const PREWARM_SHARE = 0.5;

interface LocalSessionsOptions extends Pick<HostOptions, 'agent' | 'parkAfterMs'> {
  readonly storage: SessionStorage;
  readonly maxHosts: number;
  readonly onCrash: (sessionId: string, reason: string) => void;
  readonly onActivity: (sessionId: string, activity: AgentActivity) => void;
  readonly onStartFailure: (sessionId: string, reason: string) => void;
  readonly onError: (error: unknown) => void;
}

/** The sessions of this machine: one host for each session with a client or running work. */
export class LocalSessions implements Sessions {
  readonly #options: LocalSessionsOptions;
  readonly #hosts = new Set<Host>();
  /** How many clients open each session at the moment. */
  readonly #openings = new Map<string, number>();
  /** The hosts that are being created, by session id. */
  readonly #creating = new Map<string, Promise<Host>>();
  /** How many hosts will be added when their sessions are open. */
  #reserved = 0;
  /** The folders of sessions without a file, by session id. */
  readonly #folders = new Map<string, string>();
  #isDraining = false;
  #isClosing = false;

  constructor(options: LocalSessionsOptions) {
    this.#options = options;
  }

  get hosts(): ReadonlySet<Host> {
    return this.#hosts;
  }

  /** Whether it may serve one more session. */
  get hasRoom(): boolean {
    return !this.#isFull || this.#idleHost !== undefined;
  }

  /** Whether it never serves a session. */
  get servesNone(): boolean {
    return this.#options.maxHosts === 0;
  }

  /** Whether no further sessions are opened. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** The host of a session, unless it is closing. */
  find(sessionId: string): Host | undefined {
    return [...this.#hosts].find((host) => host.sessionId === sessionId && !host.closing);
  }

  /** Whether it serves a session, or is about to. */
  has(sessionId: string): boolean {
    return this.find(sessionId) !== undefined || this.#openings.has(sessionId) || this.#creating.has(sessionId);
  }

  async fetch(target: SessionTarget): Promise<boolean> {
    await this.fileFor(target);
    return true;
  }

  /** The file of this machine for a session that an agent is about to look at. */
  async fileFor(target: SessionTarget): Promise<string | undefined> {
    return this.find(target.id)?.sessionFile ?? (await this.#options.storage.fetch(target));
  }

  adopt(target: SessionTarget): Promise<void> {
    return this.#options.storage.adopt(target);
  }

  statusOf(sessionId: string) {
    return this.find(sessionId)?.status;
  }

  fileOf(sessionId: string): string | undefined {
    const { sessionFile } = this.find(sessionId) ?? {};
    return sessionFile !== undefined && existsSync(sessionFile) ? sessionFile : undefined;
  }

  folderOf(sessionId: string): string | undefined {
    // Includes hosts that are closing.
    return [...this.#hosts].find((host) => host.sessionId === sessionId)?.cwd ?? this.#folders.get(sessionId);
  }

  async request(
    target: SessionTarget,
    request: CommandRequest,
    { startsAgent = false } = {},
  ): Promise<AgentResponse | undefined> {
    const live = await this.#findHost(target);
    if (!live && startsAgent && this.#isDraining) throw new Refusal('overloaded', 'The server is shutting down');
    const host = live ?? (startsAgent ? await this.#createHost(target, 'write') : undefined);
    if (!host) return undefined;
    if (commandRows[request.type].scope !== 'view')
      await host.provide('write').catch(async (error: unknown) => {
        throw (await lockRefusal(target)) ?? error;
      });
    return new Promise((resolve) => host.send(request, undefined, resolve));
  }

  async release(target: SessionTarget, stop?: StopExtent): Promise<boolean> {
    const host = await this.#findHost(target);
    if (!host) return true;
    if (stop === 'all') host.disconnectAll();
    if (host.clientCount > 0 || (stop === undefined && host.status !== 'idle')) return false;
    await host.close();
    return true;
  }

  /** Releases a session for another node; returns false while clients use or open it. */
  async handOver(sessionId: string): Promise<boolean> {
    return !this.#openings.has(sessionId) && this.release({ kind: 'new', id: sessionId, cwd: '' });
  }

  async open(target: SessionTarget, subscriber: Subscriber): Promise<SessionHandle> {
    const { id } = target;
    this.#openings.set(id, (this.#openings.get(id) ?? 0) + 1);
    const host = await this.#openHost(target, subscriber.access).finally(() => this.#endOpening(id));
    let isOpen = true;
    return {
      get sessionId() {
        return host.sessionId;
      },
      get cwd() {
        return host.cwd;
      },
      attach: (options) => host.attach(subscriber, options),
      send: (request, onResponse) => host.send(request, subscriber, onResponse),
      sendFrame: (frame) => host.frames.send(frame, subscriber),
      sendMalformedFrame: (frame) => host.frames.sendMalformed(frame, subscriber),
      updatePreferences: () => host.updatePreferences(),
      replayOutput: () => host.replayOutput(subscriber),
      followEntries: () => host.followEntries(subscriber),
      continueReads: () => host.continueReads(),
      close: async (reason) => {
        if (!isOpen) return;
        isOpen = false;
        await host.detach(subscriber, reason);
      },
    };
  }

  async prewarm(target: SessionTarget, access: Access): Promise<void> {
    const hasRoom = this.#hosts.size < this.#options.maxHosts * PREWARM_SHARE;
    const isHere = [...this.#hosts].some(({ sessionId }) => sessionId === target.id);
    if (this.#isDraining || this.#isClosing || !hasRoom || isHere) return;
    try {
      await (await this.#createHost(target, access)).start();
    } catch {
      // The client that connects gets the error.
    }
  }

  /** Opens no further sessions, and closes those that are idle. Returns whether others are left. */
  async drain(): Promise<boolean> {
    this.#isDraining = true;
    await Promise.all([...this.#hosts].map((host) => host.closeIfIdle()));
    return this.#hosts.size > 0;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.allSettled(this.#creating.values());
    await Promise.all([...this.#hosts].map((host) => host.close()));
  }

  #endOpening(sessionId: string): void {
    const others = (this.#openings.get(sessionId) ?? 1) - 1;
    if (others > 0) this.#openings.set(sessionId, others);
    else this.#openings.delete(sessionId);
  }

  async #openHost(target: SessionTarget, access: Access): Promise<Host> {
    for (const deadline = performance.now() + IN_USE_TIMEOUT_MS; ; ) {
      await this.#whenClosed(target.id);
      if (this.#isClosing || (this.#isDraining && !this.find(target.id)))
        throw new Refusal('overloaded', 'The server is shutting down');
      const host = this.find(target.id) ?? (await this.#createHost(this.#asUnsaved(target), access));
      if (isOtherFile(host, target)) throw inUse(`A session with the same id is in use: ${nameOf(target)}`);
      try {
        await host.provide(access);
        if (host.closing !== undefined) continue;
        host.reserve();
        return host;
      } catch (error) {
        const refusal = await lockRefusal(target);
        // The other process may have released the lock since the agent failed.
        const wasInUse = messageOf(error).includes('Session is in use by ');
        if (!refusal && !wasInUse) {
          this.#options.onStartFailure(target.id, messageOf(error));
          throw error;
        }
        if (performance.now() > deadline) throw refusal ?? error;
        await new Promise((resolve) => setTimeout(resolve, OPEN_RETRY_MS));
      }
    }
  }

  /** The host of exactly this session file, after any previous host has closed. */
  async #findHost(target: SessionTarget): Promise<Host | undefined> {
    await this.#whenClosed(target.id);
    const host = this.find(target.id);
    return host && isOtherFile(host, target) ? undefined : host;
  }

  /** Settles when no host of the session is closing. */
  async #whenClosed(sessionId: string): Promise<void> {
    await [...this.#hosts].find((host) => host.sessionId === sessionId && host.closing)?.closing;
  }

  /** Clients that open a session at the same time share its host. */
  #createHost(target: SessionTarget, access: Access): Promise<Host> {
    const creating = this.#creating.get(target.id);
    if (creating) return creating;
    const created = this.#newHost(target, access).finally(() => this.#creating.delete(target.id));
    this.#creating.set(target.id, created);
    return created;
  }

  async #newHost(target: SessionTarget, access: Access): Promise<Host> {
    const { maxHosts, storage } = this.#options;
    while (this.#isFull && this.#idleHost) await this.#idleHost.close();
    if (this.#isFull) throw new Refusal('overloaded', tooMany(maxHosts));
    this.#reserved++;
    try {
      const session = await storage.open(target);
      if (!session) throw inUse(`Session is in use elsewhere: ${target.id}`);
      if (session.lost.aborted) {
        await session.release();
        throw new Refusal('overloaded', `The session was lost while it was opened: ${target.id}`);
      }
      return this.#addHost(session, access);
    } finally {
      this.#reserved--;
    }
  }

  #addHost(session: OwnedSession, access: Access): Host {
    const { agent, parkAfterMs, onCrash, onActivity, onError } = this.#options;
    // Clients that open the session meanwhile wait until it is released.
    const onClose = async () => {
      this.#rememberFolder(created);
      await session.release().finally(() => this.#hosts.delete(created));
    };
    const callbacks = {
      onClose,
      onError,
      onCrash: (reason: string) => onCrash(created.sessionId, reason),
      onActivity: (activity: AgentActivity) => onActivity(created.sessionId, activity),
    };
    const created = new Host({ session, access, agent, parkAfterMs, callbacks });
    this.#hosts.add(created);
    return created;
  }

  get #isFull(): boolean {
    return this.#hosts.size + this.#reserved >= this.#options.maxHosts;
  }

  /** The oldest host without clients and running work, which no client opens at the moment. */
  get #idleHost(): Host | undefined {
    return [...this.#hosts].find(
      ({ clientCount, status, sessionId }) => clientCount === 0 && status === 'idle' && !this.#openings.has(sessionId),
    );
  }

  #rememberFolder({ sessionId, sessionFile, cwd, hasStarted }: Host): void {
    this.#folders.delete(sessionId);
    // A file that existed before the agent and is missing now was deleted.
    if (sessionFile !== undefined && (!hasStarted || existsSync(sessionFile))) return;
    this.#folders.set(sessionId, cwd);
    const [oldest] = this.#folders.keys();
    if (this.#folders.size > MAX_REMEMBERED_FOLDERS && oldest !== undefined) this.#folders.delete(oldest);
  }

  /** A target whose agent exited without storing a message is opened as a new session. */
  #asUnsaved(target: SessionTarget): SessionTarget {
    const cwd = this.#folders.get(target.id);
    if (cwd === undefined || target.kind === 'new' || existsSync(target.path)) return target;
    return { kind: 'new', id: target.id, cwd };
  }
}

const tooMany = (limit: number) =>
  limit === 0 ? 'No node has room for the session' : `No more than ${limit} sessions at a time`;

const inUse = (reason: string) => new Refusal('session_in_use', reason);

/** Whether the host has another file with the same id: files can be copied. */
const isOtherFile = ({ sessionFile }: Host, target: SessionTarget) =>
  target.kind === 'stored' && sessionFile !== undefined && realPath(sessionFile) !== realPath(target.path);

const nameOf = (target: SessionTarget) => (target.kind === 'stored' ? target.path : target.id);

/** The refusal of the session lock, if another process holds it. */
async function lockRefusal(target: SessionTarget): Promise<Refusal | undefined> {
  if (target.kind === 'new') return undefined;
  try {
    await (await SessionLock.acquire(target.path)).release();
    return undefined;
  } catch (error) {
    return error instanceof Refusal ? error : undefined;
  }
}
