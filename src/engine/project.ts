import { readSettings, type Settings } from '../store/settings.ts';
import { TrustStore } from '../store/trust.ts';

/** The folder tau works in: whether it is trusted, and the settings that follow from that. */
export class Project {
  readonly cwd: string;
  readonly #agentDir: string;
  readonly #store: TrustStore;
  #trusted: boolean;
  #isDecided: boolean;
  #settings: Settings;
  #warnings: string[];

  /** `trust` decides for this process what was never decided; otherwise an unknown project is not trusted. */
  constructor(options: { cwd: string; agentDir: string; trust?: boolean | undefined }) {
    this.cwd = options.cwd;
    this.#agentDir = options.agentDir;
    this.#store = new TrustStore(options.agentDir);
    const plain = readSettings({ agentDir: options.agentDir, cwd: options.cwd, trusted: false });
    const usual = plain.settings.defaultProjectTrust;
    const decided = options.trust ?? this.#store.isTrusted(options.cwd);
    this.#isDecided = decided !== undefined || usual === 'always' || usual === 'never';
    this.#trusted = decided ?? usual === 'always';
    const { settings, warnings } = this.#trusted ? this.#read() : plain;
    this.#settings = settings;
    this.#warnings = warnings;
  }

  get trusted(): boolean {
    return this.#trusted;
  }

  /** Whether somebody has said so, one way or the other. */
  get isDecided(): boolean {
    return this.#isDecided;
  }

  get settings(): Settings {
    return this.#settings;
  }

  /** What was wrong with the settings files. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** Stores what was decided for other processes. */
  remember(trusted: boolean): Promise<void> {
    return this.#store.decide(this.cwd, trusted);
  }

  setTrust(trusted: boolean): void {
    this.#trusted = trusted;
    this.#isDecided = true;
    this.refresh();
  }

  /** Reads the settings again. */
  refresh(): void {
    const { settings, warnings } = this.#read();
    this.#settings = settings;
    this.#warnings = warnings;
  }

  #read() {
    return readSettings({ agentDir: this.#agentDir, cwd: this.cwd, trusted: this.#trusted });
  }
}
