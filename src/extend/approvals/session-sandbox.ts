import type { CommandLaunch, CommandSandbox } from '../../agent/permission.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { SandboxState, SandboxUse } from '../../protocol/generated/vocabulary.ts';
import type { ApprovalSettings } from '../../store/approvals/approval-settings.ts';
import { createSandbox } from '../../system/sandbox/create-sandbox.ts';
import { alwaysHidden } from '../../system/sandbox/hidden.ts';
import { probeSandbox } from '../../system/sandbox/probe.ts';
import { writableRoots } from '../../system/sandbox/roots.ts';
import type { Sandbox, SandboxProbe } from '../../system/sandbox/sandbox.ts';

/** What the sandbox of a session depends on. */
export interface SessionSandboxParts {
  readonly folders: () => { readonly cwd: string; readonly home: string; readonly agentDir: string };
  readonly settings: () => ApprovalSettings['sandbox'] | undefined;
  /** The choice that holds for the session. */
  readonly use: () => SandboxUse;
  /** Whether commands are to run in a sandbox, if one works. */
  readonly isWanted: () => boolean;
}

/** The sandbox of the current session: probed once for each process, made with the first command. */
export class SessionSandbox {
  /** Decides about hosts. */
  mayConnect: (host: string, port: number) => Promise<boolean> = async () => false;
  readonly #parts: SessionSandboxParts;
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
    this.#probe = await this.#probing;
    if (this.#probe.engine === undefined && use === 'required') {
      const { reason, remedy } = this.#probe;
      throw new Refusal('sandbox_unavailable', `No sandbox works on this machine: ${reason}. ${remedy}`);
    }
  }

  /** Whether commands run in a sandbox. */
  get isOn(): boolean {
    return this.#parts.isWanted() && this.#probe?.engine !== undefined;
  }

  get state(): SandboxState {
    if (this.#parts.use() === 'external') return { status: 'external' };
    if (!this.#parts.isWanted() || !this.#probe) return { status: 'off' };
    const { engine } = this.#probe;
    if (engine === undefined) return { status: 'unavailable', reason: `${this.#probe.reason}. ${this.#probe.remedy}` };
    return { status: 'on', engine, network: this.#network, writable: [...this.writable] };
  }

  /** The real paths of the folders that commands may change. */
  get writable(): readonly string[] {
    const { cwd, home } = this.#parts.folders();
    return writableRoots({ cwd, home, writable: [cwd, ...(this.#parts.settings()?.writable ?? [])] });
  }

  /** The real paths that commands cannot read. */
  get hidden(): readonly string[] {
    const { home, agentDir } = this.#parts.folders();
    return [...alwaysHidden(home), agentDir, ...(this.#parts.settings()?.hidden ?? [])];
  }

  /** The folder that is `/tmp` inside, once there is a sandbox. */
  get tmp(): string | undefined {
    return this.#sandbox?.tmp;
  }

  /** The sandbox for one call; undefined where none is wanted or none works. */
  async forCall({ readOnly }: { readonly readOnly: boolean }): Promise<CommandSandbox | undefined> {
    if (!this.isOn) return undefined;
    const sandbox = await this.open();
    return { confine: (launch: CommandLaunch) => sandbox.confine(launch, { readOnly }) };
  }

  /** Makes the sandbox, if there is none. */
  async open(): Promise<Sandbox> {
    this.#creating ??= this.#create();
    this.#sandbox = await this.#creating;
    return this.#sandbox;
  }

  /** Ends every process inside. */
  async end(): Promise<void> {
    const creating = this.#creating;
    this.#creating = undefined;
    this.#sandbox = undefined;
    await (await creating?.catch(() => undefined))?.close();
  }

  get #network() {
    const network = this.#parts.settings()?.network ?? 'ask';
    return network === 'none' || network === 'open' ? network : 'ask';
  }

  #create(): Promise<Sandbox> {
    const { cwd, home } = this.#parts.folders();
    const { env = [], unixSockets = false, gitWrite = false } = this.#parts.settings() ?? {};
    return createSandbox({
      cwd,
      home,
      writable: this.writable,
      hidden: this.hidden,
      network: this.#network,
      mayConnect: (host, port) => this.mayConnect(host, port),
      env,
      unixSockets,
      gitWrite,
    });
  }
}
