import { homedir } from 'node:os';
import { join } from 'node:path';
import type { CommandSandbox } from '../../agent/permission.ts';
import { NO_SANDBOX, Refusal } from '../../protocol/errors.ts';
import type { SandboxState, SandboxUse } from '../../protocol/generated/vocabulary.ts';
import type { ApprovalSettings } from '../../store/approvals/approval-settings.ts';
import { ConfinedFolders } from '../../store/approvals/confined-folders.ts';
import { TrustStore } from '../../store/trust.ts';
import { createSandbox } from '../../system/sandbox/create-sandbox.ts';
import { alwaysHidden } from '../../system/sandbox/hidden.ts';
import { probeSandbox } from '../../system/sandbox/probe.ts';
import {
  existingPath,
  hiddenPaths,
  isBelow,
  isLedByCommand,
  replacedFolders,
  writableRoots,
} from '../../system/sandbox/roots.ts';
import type { Sandbox, SandboxLaunch, SandboxOptions, SandboxProbe } from '../../system/sandbox/sandbox.ts';

/** The real paths of the session's folder, the user's home and the agent folder. */
export interface SessionFolders {
  readonly cwd: string;
  readonly home: string;
  readonly agentDir: string;
  /** The session's folder as the session and the shell of the user name it. */
  readonly namedCwds: readonly string[];
}

/** The parts of the agent on which the sandbox of a session depends. */
export interface SessionSandboxParts {
  readonly folders: () => SessionFolders;
  readonly settings: () => ApprovalSettings['sandbox'] | undefined;
  /** The choice that holds for the session. */
  readonly use: () => SandboxUse;
  /** Programs that run inside wherever they are installed. */
  readonly programs: readonly string[];
  /** Whether commands are to run in a sandbox, if one works. */
  readonly isWanted: () => boolean;
}

/** The sandbox of the current session: probed once for each process, made with the first command. */
export class SessionSandbox {
  /** Decides about hosts. */
  mayConnect: (host: string, port: number) => Promise<boolean> = async () => false;
  readonly #parts: SessionSandboxParts;
  #isReadOnly = false;
  // As in the sandbox, links are followed once.
  #writable: readonly string[] | undefined;
  readonly #everHidden = new Set<string>();
  #probing: Promise<SandboxProbe> | undefined;
  #probe: SandboxProbe | undefined;
  #creating: Promise<Sandbox> | undefined;
  #sandbox: Sandbox | undefined;

  constructor(parts: SessionSandboxParts) {
    this.#parts = parts;
  }

  /** Finds out whether a sandbox works. Rejects if it is required and none does. */
  async prepare(use: SandboxUse): Promise<void> {
    this.#probing ??= probeSandbox();
    const probe = await this.#probing;
    this.#probe = probe;
    if (probe.engine === undefined && use === 'required')
      throw new Refusal('sandbox_unavailable', `${NO_SANDBOX}: ${problemOf(probe)}`);
  }

  /** Whether commands run in a sandbox. */
  get isOn(): boolean {
    return this.#parts.isWanted() && this.#probe?.engine !== undefined;
  }

  get state(): SandboxState {
    if (this.#parts.use() === 'external') return { status: 'external' };
    if (!this.#parts.isWanted() || !this.#probe) return { status: 'off' };
    const probe = this.#probe;
    if (probe.engine === undefined) return { status: 'unavailable', reason: problemOf(probe) };
    return { status: 'on', engine: probe.engine, network: this.#network, writable: [...this.writable] };
  }

  /** The real paths of the folders that commands may change. */
  get writable(): readonly string[] {
    this.#writable ??= writableRoots(this.#options(false)).roots;
    return this.#writable;
  }

  /** The real paths of the files and folders that exist and that neither commands nor file tools read. */
  get hidden(): readonly string[] {
    return hiddenPaths({ home: this.#parts.folders().home, hidden: this.#secrets().hidden });
  }

  /** Whether a path leads through a link that a command may have made. */
  readonly isLed = (path: string): boolean => isLedByCommand(path, this.#confined.read());

  /** The paths inside hidden ones that both read. */
  get readable(): readonly string[] {
    return readableInAgentFolder(this.#parts.folders().agentDir);
  }

  /** The real paths of folders in whose place commands see others. */
  get replaced(): readonly string[] {
    return this.isOn && this.#probe?.engine === 'bubblewrap' ? replacedFolders(this.#parts.folders().home) : [];
  }

  /** The folder that is `/tmp` inside, once there is a sandbox. */
  get tmp(): string | undefined {
    return this.#sandbox?.tmp;
  }

  /** The sandbox for one call; undefined where none is wanted or none works. */
  async forCall({ readOnly }: { readonly readOnly: boolean }): Promise<CommandSandbox | undefined> {
    if (!this.isOn) return undefined;
    const sandbox = await this.open({ readOnly });
    return { confine: (launch: SandboxLaunch) => sandbox.confine(launch), reach: this.#reach(readOnly) };
  }

  /** Makes the sandbox, if there is none. One that may change files ends before one that may not begins. */
  async open({ readOnly = this.#isReadOnly } = {}): Promise<Sandbox> {
    if (readOnly !== this.#isReadOnly) {
      this.#isReadOnly = readOnly;
      await this.end();
    }
    this.#creating ??= this.#create(readOnly);
    const creating = this.#creating;
    try {
      const sandbox = await creating;
      // The session may have ended meanwhile: its sandbox is closed.
      if (this.#creating === creating) this.#sandbox = sandbox;
      return sandbox;
    } catch (error) {
      // The next command tries again.
      if (this.#creating === creating) this.#creating = undefined;
      throw error;
    }
  }

  /** Ends a sandbox whose processes may change files. */
  async endWritable(): Promise<void> {
    if (!this.#isReadOnly) await this.end();
  }

  /** Ends every process inside. */
  async end(): Promise<void> {
    const creating = this.#creating;
    this.#creating = undefined;
    this.#sandbox = undefined;
    this.#writable = undefined;
    await (await creating?.catch(() => undefined))?.close();
  }

  async #create(readOnly: boolean): Promise<Sandbox> {
    const { agentDir } = this.#parts.folders();
    const options = this.#options(readOnly);
    const { roots } = writableRoots(options);
    const [trust, confined] = [new TrustStore(agentDir), this.#confined];
    // Listed before the first command, so that trust covers no extension that a command makes below.
    if (roots.length > 0) await confined.add(roots);
    return createSandbox({ ...options, trusted: () => trust.trustedFolders(), changeable: () => confined.read() });
  }

  get #confined(): ConfinedFolders {
    return new ConfinedFolders(this.#parts.folders().agentDir);
  }

  #reach(readOnly: boolean): string {
    const roots = readOnly ? [] : this.writable;
    const guarded = this.#parts.settings()?.gitWrite ? '.pi and the hooks of git' : '.git and .pi';
    const files = roots.length === 0 ? 'nothing but /tmp' : `${[...roots, '/tmp'].join(', ')} (but not ${guarded})`;
    return `it can write to ${files}, and connect to ${HOSTS[this.#network]}`;
  }

  get #network() {
    const network = this.#parts.settings()?.network ?? 'ask';
    return network === 'none' || network === 'open' ? network : 'ask';
  }

  #secrets() {
    const { home, agentDir } = this.#parts.folders();
    const credentials = [agentDir, ...alwaysHidden(home), ...alwaysHidden(homedir())];
    const listed = this.#parts.settings()?.hidden ?? [];
    // A command may remove a link of the settings, but not what is behind it.
    for (const path of listed.flatMap((path) => existingPath(path) ?? [])) this.#everHidden.add(path);
    return { credentials, hidden: [...credentials, ...listed, ...this.#everHidden] };
  }

  #options(readOnly: boolean): SandboxOptions {
    const { cwd, namedCwds, home, agentDir } = this.#parts.folders();
    const { writable = [], env = [], unixSockets = false, gitWrite = false } = this.#parts.settings() ?? {};
    const { credentials, hidden } = this.#secrets();
    return {
      cwd,
      home,
      writable: [
        ...(isPowerful(cwd, credentials) || namedCwds.some(this.isLed) ? [] : [cwd]),
        ...writable.filter((path) => !this.isLed(path)),
      ],
      hidden,
      readable: [...readableInAgentFolder(agentDir), ...this.#parts.programs],
      readOnly,
      network: this.#network,
      mayConnect: (host, port) => this.mayConnect(host, port),
      env,
      unixSockets,
      gitWrite,
    };
  }
}

const HOSTS = { ask: 'the hosts that the user allows', none: 'no host', open: 'every host' } as const;

// The system prompt names files of these to the model, and skills start programs of their own. All others are hidden:
// keys, tokens, settings, sessions.
const READABLE_NAMES = [
  ...['skills', 'prompts', 'npm', 'git', 'bin'],
  ...['AGENTS.md', 'CLAUDE.md', 'SYSTEM.md', 'APPEND_SYSTEM.md'],
];

// A client chooses the folder of its session: in one of extensions or hooks commands would write programs that run outside.
const isPowerful = (cwd: string, credentials: readonly string[]) =>
  cwd.split('/').some((name) => name === '.git' || name === '.pi') ||
  credentials.some((folder) => isBelow(cwd, existingPath(folder) ?? folder));

const readableInAgentFolder = (agentDir: string): string[] => READABLE_NAMES.map((name) => join(agentDir, name));

const problemOf = ({ reason, remedy }: { readonly reason: string; readonly remedy: string }) => `${reason}. ${remedy}`;
