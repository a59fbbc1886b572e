import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { chooseTools } from '../agent/tool-choice.ts';
import { builtinTools } from '../agent/tools/builtin-tools.ts';
import { extensionSdk } from '../embed/sdk/extension-sdk.ts';
import { type AddonOptions, hasAddons } from '../engine/addons/detect.ts';
import { type ModelOptions, openModels } from '../engine/models/open-models.ts';
import type { EngineOptions } from '../engine/open.ts';
import { Project } from '../engine/project.ts';
import { messageOf, Refusal } from '../protocol/errors.ts';
import type { ApprovalMode, SandboxUse, ThinkingLevel } from '../protocol/generated/vocabulary.ts';
import { agentDir, expandHome, sessionDirFor } from '../store/agent-dir.ts';
import { type CliArguments, type FlagName, PiError, UsageError } from './flags/flags.ts';
import { firstSession } from './sessions/session-argument.ts';

/** Builds the engine options from the command line and the environment. */
export async function engineOptions(args: CliArguments): Promise<EngineOptions> {
  const { cwd, root, trust, project, sessionDirectory, isCustomDir } = cliPaths(args);
  const name = nameOf(args);
  const addons = addonOptionsOf(args, cwd);
  const home = process.env['HOME'] || homedir();
  const script = await scriptOf(args);
  const prompt = promptOf(args, cwd);
  const models = await openModels({
    agentDir: root,
    env: process.env,
    project,
    script,
    addons,
    ...modelOptionsOf(args),
  });
  return {
    cwd,
    agentDir: root,
    env: process.env,
    sessionDirectory,
    first: await firstSession(args, { cwd, root, sessionDirectory: sessionDirectory(cwd), isCustomDir }),
    readOnly: args['read-only'] !== undefined,
    keptByHost: args['kept-by-host'] !== undefined,
    name,
    models,
    thinkingLevel: levelOf(args),
    trust,
    project,
    ...toolsOf(args, {
      mayBeAdded: () => hasAddons({ agentDir: root, home, cwd, settings: project.settings, options: addons }),
    }),
    ...(prompt ? { prompt } : {}),
    addons,
    approvals: { mode: args.approvals as ApprovalMode | undefined, sandbox: args.sandbox as SandboxUse | undefined },
    mode: modeOf(args),
    dialect: args.stream === undefined ? {} : { stream: args.stream as 'cumulative' | 'delta' },
  };
}

/** The folders that the command line and the environment select. */
export function cliPaths(args: CliArguments) {
  const cwd = workingFolder();
  const root = agentDir(process.env);
  const trust = trustOf(args);
  const project = new Project({ cwd, agentDir: root, trust });
  const given = chosenSessionDir(args, project);
  const sessionDirectory = (folder: string) =>
    given === undefined ? sessionDirFor(root, folder) : resolve(cwd, expandHome(given));
  return { cwd, root, trust, project, sessionDirectory, isCustomDir: given !== undefined };
}

/** The current folder; throws a readable error if it was removed. */
export function workingFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new Refusal('not_found', 'The working folder was removed: go to another one', { cause: error });
  }
}

/** The one folder for all sessions, if one was chosen. An empty variable counts as unset. */
export const chosenSessionDir = (args: CliArguments, { settings }: Project): string | undefined =>
  args['session-dir'] ?? (process.env['PI_CODING_AGENT_SESSION_DIR'] || settings.sessionDir);

/** The trust that the command line sets, if any. */
export function trustOf(args: CliArguments): boolean | undefined {
  if (args.approve) return true;
  return args['no-approve'] ? false : undefined;
}

function levelOf({ thinking }: CliArguments): ThinkingLevel | undefined {
  return thinking === 'brief' ? 'minimal' : (thinking as ThinkingLevel | undefined);
}

function nameOf(args: CliArguments): string | undefined {
  const name = args.name?.trim();
  if (name === '') throw new UsageError('--name requires a non-empty value');
  return name;
}

/** An unknown name may be a tool of an addon. */
function toolsOf(args: CliArguments, { mayBeAdded }: { mayBeAdded: () => boolean }): Pick<EngineOptions, 'tools'> {
  const selected = args['no-tools'] ? [] : listOf(args.tools);
  const excluded = listOf(args['exclude-tools']);
  const builtin = args['no-builtin-tools'] === undefined;
  if (!selected && !excluded && builtin) return {};
  if (args.tools !== undefined && selected?.length === 0) throw new UsageError('--tools requires a value');
  const names = builtinTools({ cwd: '', env: {}, family: '' }, async () => ({ content: [] })).map(({ name }) => name);
  const unknown = chooseTools(names, { patterns: selected, excluded }).unknown.find((word) => !mayBeServerTool(word));
  if (unknown !== undefined && !mayBeAdded())
    throw new UsageError(`There is no tool ${unknown}: there is ${names.join(', ')}`);
  return {
    tools: {
      ...(selected ? { patterns: selected } : {}),
      ...(excluded ? { excluded } : {}),
      ...(builtin ? {} : { builtin }),
    },
  };
}

/** Whether a name may be a tool of an MCP server, known only once that is connected. */
const mayBeServerTool = (word: string) => word.includes('*') || word.includes('__');

function modeOf(args: CliArguments): EngineOptions['mode'] {
  if (args.mode === 'json') return 'json';
  return args.print || args.mode === 'text' ? 'print' : 'rpc';
}

/** RPC hosts get the same agent on every machine unless they opt in to the user's workflow settings. */
const inheritsWorkflow = (args: CliArguments) => args.mode !== 'rpc' || args['inherit-workflow-settings'] !== undefined;

const listOf = (value: string | undefined) =>
  value
    ?.split(',')
    .map((word) => word.trim())
    .filter(Boolean);

function promptOf(args: CliArguments, cwd: string): EngineOptions['prompt'] | undefined {
  const system = args['system-prompt'];
  const append = args['append-system-prompt'];
  const contextFiles = args['no-context-files'] === undefined;
  if (system === undefined && append === undefined && contextFiles) return undefined;
  return {
    ...(system === undefined ? {} : { system: textOrFile('system-prompt', system, cwd) }),
    ...(append ? { append: append.map((value) => textOrFile('append-system-prompt', value, cwd)) } : {}),
    ...(contextFiles ? {} : { contextFiles }),
  };
}

/** Addons of the command line. Paths are relative to the folder where tau was started, whatever session is opened. */
function addonOptionsOf(args: CliArguments, cwd: string): AddonOptions {
  const resolved = (paths: readonly string[] | undefined) => paths?.map((path) => resolve(cwd, expandHome(path)));
  return {
    extensions: resolved(args.extension),
    findExtensions: args['no-extensions'] === undefined,
    flags: args.unknown,
    ownsProcess: true,
    sdk: extensionSdk,
    mcp: args['no-mcp'] === undefined,
    inheritWorkflowSettings: inheritsWorkflow(args),
    skills: resolved(args.skill),
    findSkills: args['no-skills'] === undefined,
    promptTemplates: resolved(args['prompt-template']),
    findPromptTemplates: args['no-prompt-templates'] === undefined,
  };
}

/** The content of the file with this name, or else the value itself. */
function textOrFile(flag: FlagName, value: string, cwd: string): string {
  const path = resolve(cwd, expandHome(value));
  if (!existsSync(path)) return value;
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`--${flag}: ${messageOf(error)}`);
  }
}

/** The model options of the command line. */
export function modelOptionsOf(
  args: CliArguments,
): Pick<ModelOptions, 'requested' | 'patterns' | 'apiKey' | 'offline'> {
  const { provider, model: pattern, 'api-key': apiKey } = args;
  const patterns = listOf(args.models);
  const offline = args.offline !== undefined || /^(?:1|true|yes)$/i.test(process.env['PI_OFFLINE'] ?? '');
  if (pattern !== undefined) return { requested: { pattern, provider, apiKey }, patterns, offline };
  if (provider !== undefined) throw new UsageError('--provider requires --model');
  if (apiKey !== undefined && patterns === undefined) {
    throw new PiError('--api-key requires a model to be specified via --model, --provider/--model, or --models');
  }
  return { patterns, apiKey, offline };
}

async function scriptOf({ script }: CliArguments) {
  if (script === undefined) return undefined;
  const { parseScript, ScriptError } = await import('../model/scripted/script.ts');
  try {
    return parseScript(readFileSync(script, 'utf8'), script);
  } catch (error) {
    if (error instanceof ScriptError) throw new UsageError(error.message);
    throw new UsageError(`--script: ${messageOf(error)}`);
  }
}
