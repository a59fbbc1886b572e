import { readSettings, type Settings } from '../store/settings.ts';
import { TrustStore } from '../store/trust.ts';

/** The folder tau works in: whether it is trusted, and the resulting settings. */
export class Project {
  readonly cwd: string;
  readonly #agentDir: string;
  readonly #store: TrustStore;
  #trusted: boolean;
  #isTrustDecided: boolean;
  #settings: Settings;
  #warnings: string[];

  /** `trust` decides for this process; an undecided project is not trusted. */
  constructor(options: { cwd: string; agentDir: string; trust?: boolean | undefined }) {
    this.cwd = options.cwd;
    this.#agentDir = options.agentDir;
    this.#store = new TrustStore(options.agentDir);
    const untrusted = readSettings({ agentDir: options.agentDir, cwd: options.cwd, trusted: false });
    const defaultTrust = untrusted.settings.defaultProjectTrust;
    const decided = options.trust ?? this.#store.isTrusted(options.cwd);
    this.#isTrustDecided = decided !== undefined || defaultTrust === 'always' || defaultTrust === 'never';
    this.#trusted = decided ?? defaultTrust === 'always';
    const { settings, warnings } = this.#trusted ? this.#read() : untrusted;
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
    return readSettings({ agentDir: this.#agentDir, cwd: this.cwd, trusted: this.#trusted });
  }
}
