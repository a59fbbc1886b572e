import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type ModelOptions, openModels } from '../engine/models/open-models.ts';
import { type Engine, type EngineOptions, type FirstSession, openEngine } from '../engine/open.ts';
import { Project, type SettingsSource } from '../engine/project.ts';
import { isThinkingLevel } from '../model/thinking-levels.ts';
import { Refusal } from '../protocol/errors.ts';
import { agentDir, sessionDirFor } from '../store/agent-dir.ts';
import { extensionSdk } from './sdk/extension-sdk.ts';

type ForwardedOptions = 'name' | 'thinkingLevel' | 'trust' | 'tools' | 'prompt' | 'addons' | 'hooks' | 'approvals';

/** Options of an agent in this process. */
export interface LocalEngineOptions
  extends Partial<Pick<EngineOptions, ForwardedOptions>>,
    Pick<ModelOptions, 'requested' | 'patterns' | 'registry'> {
  readonly cwd?: string | undefined;
  readonly agentDir?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** A script for the built-in model. */
  readonly script?: string | undefined;
  readonly sessionDirectory?: string | undefined;
  /** Replaces the settings files. */
  readonly settings?: SettingsSource | undefined;
  /** Called last, after every other check. */
  readonly first: (directories: SessionDirectories) => FirstSession | Promise<FirstSession>;
}

/** The folder of the agent, and that of its sessions. */
export interface SessionDirectories {
  readonly cwd: string;
  readonly directory: string;
}

/** Opens an engine in this process. Rejects with a `Refusal`. */
export async function openLocalEngine(options: LocalEngineOptions): Promise<Engine> {
  const { cwd = process.cwd(), env = process.env, script, thinkingLevel, trust, addons, hooks = {} } = options;
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) throw new Refusal('not_found', `Not a folder: ${cwd}`);
  if (thinkingLevel !== undefined && !isThinkingLevel(thinkingLevel)) {
    throw new Refusal('invalid_params', `Not a thinking level: ${thinkingLevel}`);
  }
  const root = options.agentDir ?? agentDir(env);
  const project = new Project({ cwd, agentDir: root, trust, settings: options.settings });
  const models = await openModels({
    agentDir: root,
    env,
    project,
    addons: addons ?? {},
    requested: options.requested,
    patterns: options.patterns,
    registry: options.registry,
    script: script === undefined ? undefined : await readScript(script),
  });
  const sessionDirectory = (folder: string) => options.sessionDirectory ?? sessionDirFor(root, folder);
  return openEngine({
    cwd,
    env,
    agentDir: root,
    models,
    project,
    thinkingLevel,
    trust,
    addons: { sdk: extensionSdk, ...addons },
    hooks,
    sessionDirectory,
    first: await options.first({ cwd, directory: sessionDirectory(cwd) }),
    name: options.name,
    tools: options.tools,
    prompt: options.prompt,
    approvals: options.approvals,
    dialect: { stream: 'delta' },
  });
}

async function readScript(path: string) {
  const { parseScript } = await import('../model/scripted/script.ts');
  return parseScript(await readFile(path, 'utf8'), path);
}
