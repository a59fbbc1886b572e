import type { Agent } from '../../engine/agent.ts';
import { publishChanges } from '../../engine/agent-state.ts';
import type { SettingsSource } from '../../engine/project.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { QueueMode } from '../../protocol/generated/vocabulary.ts';
import { autoFeaturesFrom, deliveryModesFrom } from '../../session/session-modes.ts';
import { checkSettings } from '../../store/settings.ts';
import { SettingsManager } from './settings-manager.ts';

/** Settings of a program that has no `SettingsManager`; each method is optional. */
export interface PartialSettings {
  getSteeringMode?(): QueueMode;
  getFollowUpMode?(): QueueMode;
  getCompactionEnabled?(): boolean;
  getRetryEnabled?(): boolean;
}

const isMode = (mode: unknown): mode is QueueMode => mode === 'all' || mode === 'one-at-a-time';

/** Throws a `Refusal` if this is not a queue mode. */
export function checkMode(mode: QueueMode): QueueMode {
  if (!isMode(mode)) throw new Refusal('invalid_params', `Not a queue mode: ${mode}`);
  return mode;
}

/** The settings that the agent reads: those of a `SettingsManager`, or undefined for the settings files. */
export function settingsSource(given: SettingsManager | PartialSettings | undefined): SettingsSource | undefined {
  return given instanceof SettingsManager ? () => checkSettings(given.layers) : undefined;
}

/** A settings manager, or overrides of the settings files. */
export type GivenSettings = SettingsManager | { readonly overrides: object };

/** Calls each method of partial settings once. Throws what they throw. */
export function givenSettings(given: SettingsManager | PartialSettings | undefined): GivenSettings {
  if (given instanceof SettingsManager) return given;
  const steeringMode = given?.getSteeringMode?.();
  const followUpMode = given?.getFollowUpMode?.();
  const compaction = given?.getCompactionEnabled?.();
  const retry = given?.getRetryEnabled?.();
  return {
    overrides: {
      ...(isMode(steeringMode) ? { steeringMode } : {}),
      ...(isMode(followUpMode) ? { followUpMode } : {}),
      ...(compaction === undefined ? {} : { compaction: { enabled: compaction } }),
      ...(retry === undefined ? {} : { retry: { enabled: retry } }),
    },
  };
}

/** The settings manager of an agent: the given one, or one that reads the settings files and never writes them. */
export function managerFor(given: GivenSettings, agent: Agent): SettingsManager {
  if (given instanceof SettingsManager) return given;
  const { project, addonPaths } = agent;
  const manager = SettingsManager.reading(project.cwd, addonPaths.agentDir, { projectTrusted: project.trusted });
  manager.applyOverrides(given.overrides);
  return manager;
}

/** Applies the valid modes and automatic features of a manager to the session, now and whenever one is set. */
export function applySettings(manager: SettingsManager, agent: Agent): () => void {
  const apply = () => {
    const { modes, automatic } = agent.session;
    const { settings } = checkSettings(manager.layers);
    const { steering, followUp } = deliveryModesFrom(settings);
    Object.assign(modes, { steering, followUp });
    Object.assign(automatic, autoFeaturesFrom(settings));
  };
  apply();
  return manager.onChange(() => publishChanges(agent, apply));
}
