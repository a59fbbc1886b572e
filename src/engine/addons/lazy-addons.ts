import { TODOS_TYPE } from '../../extend/todos/entry-type.ts';
import type { SessionLog } from '../../store/sessions/session-log.ts';
import type { Agent } from '../agent.ts';
import type { Addons } from './addons.ts';
import { hasAddons } from './detect.ts';

/** Imports the add-ons of an agent on first use: an agent without any loads no code for them. */
export class LazyAddons {
  readonly #agent: Agent;
  #importing: Promise<Addons> | undefined;
  #loaded: Addons | undefined;
  #starting: Promise<void> | undefined;
  #hasStarted = false;

  constructor(agent: Agent) {
    this.#agent = agent;
  }

  /** Undefined until the first add-on is needed. */
  get loaded(): Addons | undefined {
    return this.#loaded;
  }

  ensureLoaded(): Promise<Addons> {
    this.#importing ??= import('./addons.ts').then(({ Addons }) => {
      this.#loaded = new Addons(this.#agent);
      return this.#loaded;
    });
    return this.#importing;
  }

  /**
   * Loads the add-ons of the user and the project once, if any exist; none in an agent that only reads, because their
   * code may write.
   */
  start(): Promise<void> | undefined {
    if (this.#hasStarted || this.#agent.isReadOnly || !hasAddons(this.#agent.addonPaths)) return this.#starting;
    this.#hasStarted = true;
    this.#starting = this.ensureLoaded()
      .then((addons) => addons.load('startup'))
      .finally(() => {
        this.#starting = undefined;
      });
    return this.#starting;
  }

  /** Defined while the add-ons of the start are loading. */
  get loading(): Promise<void> | undefined {
    return this.#starting;
  }

  /** Loads what the stored session needs before the agent switches to it. */
  async prepareFor(log: SessionLog): Promise<void> {
    if (log.count(TODOS_TYPE) > 0) await (await this.ensureLoaded()).todos();
  }

  async onSessionSwitched(): Promise<void> {
    await (await this.#loadedIfAny())?.onSessionSwitched();
  }

  async onTrustChanged(): Promise<void> {
    await (await this.#loadedIfAny())?.reload();
  }

  async close(): Promise<void> {
    await (await this.#importing)?.close();
  }

  async #loadedIfAny(): Promise<Addons | undefined> {
    return this.#loaded || hasAddons(this.#agent.addonPaths) ? this.ensureLoaded() : undefined;
  }
}
