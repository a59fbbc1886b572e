import { chmodSync, constants, copyFileSync, existsSync } from 'node:fs';
import { join, parse, resolve } from 'node:path';
import type { ExtensionCommandContext } from '../../extend/extensions/extension-api.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { SessionStart } from '../../session/hooks.ts';
import { makePrivateFolder } from '../../system/files/make-folder.ts';
import type { AgentSession } from '../agent-session.ts';
import type { CreateAgentSessionResult } from '../create-agent-session.ts';
import { SessionManager } from '../sessions/session-manager.ts';
import type { AgentSessionRuntimeDiagnostic, AgentSessionServices } from './agent-session-services.ts';

export interface CreateAgentSessionRuntimeResult extends CreateAgentSessionResult {
  readonly services: AgentSessionServices;
  readonly diagnostics: AgentSessionRuntimeDiagnostic[];
}

interface RuntimeTarget {
  readonly cwd: string;
  readonly agentDir: string;
  readonly sessionManager: SessionManager;
  readonly sessionStartEvent?: SessionStart | undefined;
}

/** Creates the services and the agent for one session. */
export type CreateAgentSessionRuntimeFactory = (target: RuntimeTarget) => Promise<CreateAgentSessionRuntimeResult>;

interface ReplaceOptions {
  readonly withSession?: ((ctx: ExtensionCommandContext) => Promise<void>) | undefined;
}

interface Cancellable {
  readonly cancelled: boolean;
}

/**
 * Runs one agent at a time: each session change disposes the current one and creates another. Changes run one after
 * the other, so code that a change waits for must not wait for another one; `withSession` may.
 *
 * If the new agent cannot be created, the change rejects and `session` stays the disposed one; the next change works.
 */
export class AgentSessionRuntime {
  readonly #create: CreateAgentSessionRuntimeFactory;
  #current: CreateAgentSessionRuntimeResult;
  /** False after an agent could not be created. */
  #isLive = true;
  #changing: Promise<unknown> = Promise.resolve();
  #rebind: ((session: AgentSession) => Promise<void>) | undefined;
  #beforeInvalidate: (() => void) | undefined;

  /** @internal */
  constructor(current: CreateAgentSessionRuntimeResult, create: CreateAgentSessionRuntimeFactory) {
    this.#current = current;
    this.#create = create;
  }

  get session(): AgentSession {
    return this.#current.session;
  }

  get services(): AgentSessionServices {
    return this.#current.services;
  }

  get cwd(): string {
    return this.services.cwd;
  }

  get diagnostics(): readonly AgentSessionRuntimeDiagnostic[] {
    return this.#current.diagnostics;
  }

  get modelFallbackMessage(): string | undefined {
    return this.#current.modelFallbackMessage;
  }

  /** Called with each new session, before it is used. */
  setRebindSession(rebind?: (session: AgentSession) => Promise<void>): void {
    this.#rebind = rebind;
  }

  /** Called before a session is disposed. */
  setBeforeSessionInvalidate(listener?: () => void): void {
    this.#beforeInvalidate = listener;
  }

  switchSession(sessionPath: string, options: ReplaceOptions & { cwdOverride?: string } = {}): Promise<Cancellable> {
    return this.#change(options, async () => {
      const manager = SessionManager.open(sessionPath, undefined, options.cwdOverride);
      if (await this.#isSwitchCancelled(sessionPath)) return { cancelled: true };
      return this.#replace(manager, 'resume');
    });
  }

  /** `setup` writes the first entries of the new session. */
  newSession(
    options: ReplaceOptions & { parentSession?: string; setup?: (manager: SessionManager) => Promise<void> } = {},
  ): Promise<Cancellable> {
    const { parentSession, setup } = options;
    return this.#change(options, async () => {
      if (await this.#isCancelled({ type: 'session_before_switch', reason: 'new' })) return { cancelled: true };
      const { sessionManager } = this.session;
      const manager = sessionManager.isPersisted()
        ? SessionManager.create(this.cwd, sessionManager.getSessionDir(), { parentSession })
        : SessionManager.inMemory(this.cwd, { parentSession });
      await setup?.(manager);
      return this.#replace(manager, 'new');
    });
  }

  /** Continues in a copy of the branch before a user message, or up to an entry. */
  fork(
    entryId: string,
    options: ReplaceOptions & { position?: 'before' | 'at' } = {},
  ): Promise<Cancellable & { selectedText?: string }> {
    return this.#change(options, async () => {
      const { sessionManager } = this.session;
      const entry = sessionManager.getEntry(entryId);
      if (!entry) throw new Refusal('not_found', `Entry not found: ${entryId}`);
      const { position = 'before' } = options;
      if (await this.#isCancelled({ type: 'session_before_fork', entryId, position })) return { cancelled: true };
      const leafId = position === 'at' ? entryId : entry.parentId;
      const manager = this.#copyUpTo(leafId);
      const selectedText = position === 'at' ? undefined : textOf(entry);
      const result = await this.#replace(manager, 'fork');
      return selectedText === undefined ? result : { ...result, selectedText };
    });
  }

  /**
   * Copies a session file into the folder of sessions and opens the copy. Never overwrites a file: the copy gets
   * another name if its own is taken. A file of that folder is opened as it is.
   */
  importFromJsonl(inputPath: string, cwdOverride?: string): Promise<Cancellable> {
    return this.#change({}, async () => {
      const source = resolve(inputPath);
      if (!existsSync(source)) throw new Refusal('not_found', `File not found: ${source}`);
      const directory = this.session.sessionManager.getSessionDir();
      if (directory === '') throw new Refusal('not_supported', 'A session in memory has no folder to import into');
      // Throws for a file without a session, before it is copied.
      SessionManager.open(source);
      const target = importPath(source, directory);
      if (await this.#isSwitchCancelled(target)) return { cancelled: true };
      if (target !== source) {
        makePrivateFolder(directory);
        copyFileSync(source, target, constants.COPYFILE_EXCL);
        chmodSync(target, 0o600);
      }
      return this.#replace(SessionManager.open(target, undefined, cwdOverride), 'resume');
    });
  }

  /** Ends the agent, after the changes that were requested before. */
  async dispose(): Promise<void> {
    await this.#serially(() => this.session.dispose());
  }

  async #change<T extends Cancellable>({ withSession }: ReplaceOptions, change: () => Promise<T>): Promise<T> {
    const { result, session } = await this.#serially(async () => ({ result: await change(), session: this.session }));
    if (withSession && !result.cancelled) await withSession(session.createReplacedSessionContext());
    return result;
  }

  #serially<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#changing.then(work);
    this.#changing = done.catch(() => {});
    return done;
  }

  #copyUpTo(leafId: string | null): SessionManager {
    const { sessionManager } = this.session;
    const parentSession = sessionManager.getSessionFile();
    if (leafId === null || parentSession === undefined) {
      const entries = leafId === null ? [] : sessionManager.getBranch(leafId);
      if (parentSession === undefined) return SessionManager.inMemory(this.cwd, {}, entries);
      return SessionManager.create(this.cwd, sessionManager.getSessionDir(), { parentSession });
    }
    return SessionManager.open(sessionManager.createBranchedSession(leafId) ?? '', sessionManager.getSessionDir());
  }

  #isSwitchCancelled(targetSessionFile: string): Promise<boolean> {
    return this.#isCancelled({ type: 'session_before_switch', reason: 'resume', targetSessionFile });
  }

  async #isCancelled(event: { readonly type: string } & Record<string, unknown>): Promise<boolean> {
    if (!this.#isLive) return false;
    const result = (await this.session.extensionRunner.emit(event)) as { cancel?: boolean } | undefined;
    return result?.cancel === true;
  }

  async #replace(sessionManager: SessionManager, reason: SessionStart['reason']): Promise<Cancellable> {
    const previousSessionFile = this.session.sessionFile;
    if (this.#isLive) {
      const targetSessionFile = sessionManager.getSessionFile();
      await this.session.extensionRunner.emit({ type: 'session_shutdown', reason, targetSessionFile } as {
        type: string;
      });
      this.#beforeInvalidate?.();
      this.#isLive = false;
      await this.session.dispose();
    }
    this.#current = await this.#create({
      cwd: sessionManager.getCwd(),
      agentDir: this.services.agentDir,
      sessionManager,
      sessionStartEvent: { reason, previousSessionFile },
    });
    this.#isLive = true;
    await this.#rebind?.(this.session);
    return { cancelled: false };
  }
}

/** Creates the first agent of a runtime. */
export async function createAgentSessionRuntime(
  create: CreateAgentSessionRuntimeFactory,
  target: RuntimeTarget,
): Promise<AgentSessionRuntime> {
  return new AgentSessionRuntime(await create(target), create);
}

/** The path of a file in a folder: its own if it is there already, otherwise one that is free. */
function importPath(source: string, directory: string): string {
  const { name, ext, base } = parse(source);
  let path = resolve(directory, base);
  for (let count = 2; path !== source && existsSync(path); count++) path = join(directory, `${name}-${count}${ext}`);
  return path;
}

function textOf(entry: { readonly type: string; readonly message?: unknown }): string | undefined {
  const { role, content } = (entry.message ?? {}) as { role?: string; content?: unknown };
  if (role !== 'user') return undefined;
  if (typeof content === 'string') return content;
  const blocks = Array.isArray(content) ? (content as { type: string; text?: string }[]) : [];
  return blocks.map(({ type, text = '' }) => (type === 'text' ? text : '')).join('');
}
