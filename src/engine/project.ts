import type { TrustSkippedEvent } from '../protocol/generated/vocabulary.ts';
import { readSettings, type Settings } from '../store/settings.ts';
import { TrustStore } from '../store/trust.ts';
import { filesNeedingTrust } from './addons/detect.ts';
import type { Agent, AgentParts } from './agent.ts';
import { publishChanges } from './agent-state.ts';
import { ignoreErrors } from './grace-period.ts';
import { registryPlaceOf } from './models/open-models.ts';

/** Settings of the embedding program instead of those in files. */
export type SettingsSource = () => { settings: Settings; warnings: string[] };

interface ProjectOptions {
  readonly cwd: string;
  readonly agentDir: string;
  readonly trust?: boolean | undefined;
  readonly settings?: SettingsSource | undefined;
}

/** The folder tau works in: whether it is trusted, and the resulting settings. */
export class Project {
  readonly cwd: string;
  readonly #agentDir: string;
  readonly #source: SettingsSource | undefined;
  readonly #store: TrustStore;
  #trusted: boolean;
  #isTrustDecided: boolean;
  #settings: Settings;
  #warnings: string[];

  /** `trust` decides for this process; an undecided project is not trusted. */
  constructor(options: ProjectOptions) {
    this.cwd = options.cwd;
    this.#agentDir = options.agentDir;
    this.#source = options.settings;
    this.#store = new TrustStore(options.agentDir);
    const untrusted = readSettings({ agentDir: options.agentDir, cwd: options.cwd, trusted: false });
    const defaultTrust = untrusted.settings.defaultProjectTrust;
    const decided = options.trust ?? this.#store.isTrusted(options.cwd);
    this.#isTrustDecided = decided !== undefined || defaultTrust === 'always' || defaultTrust === 'never';
    this.#trusted = decided ?? defaultTrust === 'always';
    const { settings, warnings } = this.#trusted || this.#source ? this.#read() : untrusted;
    this.#settings = settings;
    this.#warnings = warnings;
  }

  get trusted(): boolean {
    return this.#trusted;
  }

  /** Whether trust was granted or denied. */
  get isTrustDecided(): boolean {
    return this.#isTrustDecided;
  }

  get settings(): Settings {
    return this.#settings;
  }

  /** Problems of the settings files. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** Stores the decision for other processes. */
  saveTrust(trusted: boolean): Promise<void> {
    return this.#store.decide(this.cwd, trusted);
  }

  setTrust(trusted: boolean): void {
    this.#trusted = trusted;
    this.#isTrustDecided = true;
    this.reloadSettings();
  }

  reloadSettings(): void {
    const { settings, warnings } = this.#read();
    this.#settings = settings;
    this.#warnings = warnings;
  }

  #read() {
    if (this.#source) return this.#source();
    return readSettings({ agentDir: this.#agentDir, cwd: this.cwd, trusted: this.#trusted });
  }
}

interface TrustVerdict {
  readonly trusted: boolean;
  /** Also decide for other processes. */
  readonly remember: boolean;
}

/** The project of the current session: its changes reach the model registry, the built-in tools and the clients. */
export class CurrentProject {
  readonly #agent: Agent;
  readonly #parts: AgentParts;
  readonly #trustByFolder = new Map<string, boolean>();
  #project: Project;
  #skippedFiles: readonly string[];

  constructor(agent: Agent, parts: AgentParts, project: Project) {
    this.#agent = agent;
    this.#parts = parts;
    this.#project = project;
    this.#skippedFiles = this.#findSkippedFiles();
  }

  /** Files that are not used because the project is not trusted. */
  get skippedFiles(): readonly string[] {
    return this.#skippedFiles;
  }

  /** The event about the skipped files. */
  get trustSkipped(): TrustSkippedEvent {
    return { type: 'trust_skipped', cwd: this.#project.cwd, files: [...this.#skippedFiles] };
  }

  get project(): Project {
    return this.#project;
  }

  /** The project of a folder, with the trust that a client decided in this process. */
  forFolder(cwd: string): Project {
    return this.#project.cwd === cwd ? this.#project : this.#parts.projectFor(cwd, this.#trustByFolder.get(cwd));
  }

  use(project: Project): void {
    const before = this.trustSkipped;
    this.#project = project;
    this.#skippedFiles = this.#findSkippedFiles();
    if (JSON.stringify(this.trustSkipped.files) !== JSON.stringify(before.files))
      this.#agent.broadcast.publish(this.trustSkipped);
    this.#agent.registry.folderOptions = registryPlaceOf(project);
    this.useShell();
  }

  /** Renews the built-in tools after a change of the shell options. */
  useShell(): void {
    this.#agent.toolbox.setBuiltins(this.#parts.tools(this.#agent.shell));
  }

  #findSkippedFiles(): string[] {
    const { cwd, trusted } = this.#project;
    const { agentDir, addonOptions: options } = this.#parts;
    return trusted ? [] : filesNeedingTrust({ agentDir, cwd, options });
  }

  refresh(): void {
    publishChanges(this.#agent, () => {
      this.#project.reloadSettings();
      this.use(this.#project);
    });
    this.#agent.warnings.report('settings', this.#project.warnings);
  }

  /** Sets the trust of the project and reloads its settings, tools and add-ons. */
  async setTrust(verdict: TrustVerdict): Promise<void> {
    await this.decideTrust(verdict);
    await ignoreErrors(() => this.#agent.addons.onTrustChanged());
  }

  /** Sets the trust of the project without reloading add-ons. */
  async decideTrust({ trusted, remember }: TrustVerdict): Promise<void> {
    if (remember) await this.#project.saveTrust(trusted);
    publishChanges(this.#agent, () => {
      this.#project.setTrust(trusted);
      this.#trustByFolder.set(this.#project.cwd, trusted);
      this.use(this.#project);
    });
  }
}
