import type { Agent } from '../engine/agent.ts';
import { publishChanges } from '../engine/agent-state.ts';
import { Refusal } from '../protocol/errors.ts';
import type { QueueMode, ThinkingLevel } from '../protocol/generated/vocabulary.ts';
import type { AutoFeatures } from '../session/run/recovery.ts';
import type { DeliveryModes } from '../session/session-modes.ts';
import type { Settings } from '../store/settings.ts';

/** Settings that a program provides; each method is optional. */
export interface SettingsSource {
  getSteeringMode?(): QueueMode;
  getFollowUpMode?(): QueueMode;
  getCompactionEnabled?(): boolean;
  getRetryEnabled?(): boolean;
}

const isMode = (mode: unknown): mode is QueueMode => mode === 'all' || mode === 'one-at-a-time';

/** Returns a function that applies the program's settings over those of files. */
export function settingsFrom(source: SettingsSource | undefined): (agent: Agent) => void {
  const steering = source?.getSteeringMode?.();
  const followUp = source?.getFollowUpMode?.();
  const compaction = source?.getCompactionEnabled?.();
  const retry = source?.getRetryEnabled?.();
  return ({ session: { modes, automatic } }) => {
    if (isMode(steering)) modes.steering = steering;
    if (isMode(followUp)) modes.followUp = followUp;
    automatic.compaction = compaction ?? automatic.compaction;
    automatic.retry = retry ?? automatic.retry;
  };
}

/** A view of the effective settings under pi's names. Setters change the session, never a file. */
export class SettingsView {
  readonly #agent: Agent;

  constructor(agent: Agent) {
    this.#agent = agent;
  }

  /** The merged settings files of user and project. */
  getSettings = (): Settings => structuredClone(this.#agent.project.settings);
  getDefaultProvider = (): string | undefined => this.#agent.project.settings.defaultProvider;
  getDefaultModel = (): string | undefined => this.#agent.project.settings.defaultModel;
  getDefaultThinkingLevel = (): ThinkingLevel | undefined => this.#agent.project.settings.defaultThinkingLevel;
  getSteeringMode = (): QueueMode => this.#agent.session.modes.steering;
  getFollowUpMode = (): QueueMode => this.#agent.session.modes.followUp;
  getCompactionEnabled = (): boolean => this.#agent.session.automatic.compaction;
  getRetryEnabled = (): boolean => this.#agent.session.automatic.retry;

  setSteeringMode = (steering: QueueMode): void => this.#setModes({ steering });
  setFollowUpMode = (followUp: QueueMode): void => this.#setModes({ followUp });
  setCompactionEnabled = (compaction: boolean): void => this.#setAutomatic({ compaction });
  setRetryEnabled = (retry: boolean): void => this.#setAutomatic({ retry });

  #setModes(modes: Partial<DeliveryModes>): void {
    const wrong = Object.values(modes).find((mode) => !isMode(mode));
    if (wrong !== undefined) throw new Refusal('invalid_params', `Not a queue mode: ${wrong}`);
    publishChanges(this.#agent, () => Object.assign(this.#agent.session.modes, modes));
  }

  #setAutomatic(automatic: Partial<AutoFeatures>): void {
    publishChanges(this.#agent, () => Object.assign(this.#agent.session.automatic, automatic));
  }
}
