import type { Agent } from '../../engine/agent.ts';
import { publishChanges } from '../../engine/agent-state.ts';
import type { SettingsSource } from '../../engine/project.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { QueueMode } from '../../protocol/generated/vocabulary.ts';
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

/** The settings manager of an agent: the given one, or one that reads the settings files and never writes them. */
export function managerFor(given: SettingsManager | PartialSettings | undefined, agent: Agent): SettingsManager {
  if (given instanceof SettingsManager) return given;
  const { project, addonPaths } = agent;
  const manager = SettingsManager.reading(project.cwd, addonPaths.agentDir, { projectTrusted: project.trusted });
  const steeringMode = given?.getSteeringMode?.();
  const followUpMode = given?.getFollowUpMode?.();
  const compaction = given?.getCompactionEnabled?.();
  const retry = given?.getRetryEnabled?.();
  manager.applyOverrides({
    ...(isMode(steeringMode) ? { steeringMode } : {}),
    ...(isMode(followUpMode) ? { followUpMode } : {}),
    ...(compaction === undefined ? {} : { compaction: { enabled: compaction } }),
    ...(retry === undefined ? {} : { retry: { enabled: retry } }),
  });
  return manager;
}

/** Applies the modes and automatic features of a manager to the session, now and whenever one is set. */
export function applySettings(manager: SettingsManager, agent: Agent): () => void {
  const apply = () => {
    const { modes, automatic } = agent.session;
    modes.steering = manager.getSteeringMode();
    modes.followUp = manager.getFollowUpMode();
    automatic.compaction = manager.getCompactionEnabled();
    automatic.retry = manager.getRetryEnabled();
  };
  apply();
  return manager.onChange(() => publishChanges(agent, apply));
}
