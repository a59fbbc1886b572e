import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { EngineOptions, FirstSession } from '../engine/open.ts';
import { Project } from '../engine/project.ts';
import { ModelRegistry } from '../model/registry.ts';
import { isLevel } from '../model/thinking.ts';
import { messageOf, Refusal } from '../protocol/errors.ts';
import type { ThinkingLevel } from '../protocol/generated/vocabulary.ts';
import { findModel, type ModelName } from '../session/model-choice.ts';
import { agentDir, expandHome, sessionDirFor } from '../store/agent-dir.ts';
import { isSessionId } from '../store/sessions/header.ts';
import { type Arguments, UsageError } from './flags.ts';

/** What the command line and the environment say about the agent to open. */
export async function engineOptions(args: Arguments): Promise<EngineOptions> {
  const cwd = process.cwd();
  const root = agentDir(process.env);
  const trust = trustOf(args);
  const project = new Project({ cwd, agentDir: root, trust });
  const given = args['session-dir'] ?? process.env['PI_CODING_AGENT_SESSION_DIR'] ?? project.settings.sessionDir;
  const sessionDirectory = (folder: string) =>
    given === undefined ? sessionDirFor(root, folder) : resolve(cwd, expandHome(given));
  const { model, thinkingLevel } = modelNamed(args);
  return {
    cwd,
    agentDir: root,
    env: process.env,
    sessionDirectory,
    first: await firstSession(args, { cwd, root, sessionDirectory: sessionDirectory(cwd) }),
    name: nameOf(args),
    model,
    thinkingLevel: (args.thinking as ThinkingLevel | undefined) ?? thinkingLevel,
    trust,
    project,
    script: await scriptOf(args),
    dialect: args.stream === undefined ? {} : { stream: args.stream as 'cumulative' | 'delta' },
  };
}

interface Places {
  readonly cwd: string;
  readonly root: string;
  readonly sessionDirectory: string;
}

async function firstSession(args: Arguments, places: Places): Promise<FirstSession> {
  const id = args['session-id'];
  if (id !== undefined && !isSessionId(id))
    throw new UsageError('--session-id takes up to 128 letters, digits, - and _, with a letter or digit at both ends');
  if (args['no-session']) return { kind: 'memory', id };
  if (args.session !== undefined) return sessionNamed(args.session, places);
  if (id === undefined && !args.continue) return { kind: 'new' };
  const { findById, latestSession } = await import('../store/sessions/find-session.ts');
  if (id === undefined) {
    const path = latestSession(places.sessionDirectory, places.cwd);
    return path === undefined ? { kind: 'new' } : { kind: 'file', path, create: false };
  }
  const { root, cwd, sessionDirectory: sessionDir } = places;
  const path = findById({ root, cwd, sessionDir, id });
  return path === undefined ? { kind: 'new', id } : { kind: 'file', path, create: false };
}

async function sessionNamed(name: string, { cwd, root, sessionDirectory }: Places): Promise<FirstSession> {
  if (/[/\\]|\.jsonl$/.test(name)) {
    const path = resolve(cwd, expandHome(name));
    if (!statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory()) {
      throw new Refusal('session_not_found', `Session not found: ${path} (its folder does not exist)`);
    }
    return { kind: 'file', path, create: true };
  }
  const { findSession } = await import('../store/sessions/find-session.ts');
  const path = findSession({ root, cwd, sessionDir: sessionDirectory, idPrefix: name });
  if (path === undefined) throw new Refusal('session_not_found', `No session found matching '${name}'`);
  return { kind: 'file', path, create: false };
}

/** What the command line says of trust in the project, if anything. */
export function trustOf(args: Arguments): boolean | undefined {
  if (args.approve) return true;
  return args['no-approve'] ? false : undefined;
}

function nameOf(args: Arguments): string | undefined {
  const name = args.name?.trim();
  if (name === '') throw new UsageError('--name requires a non-empty value');
  return name;
}

/** A model of another provider is kept as it was named: prompts fail until there are credentials for it. */
function modelNamed({ provider, model }: Arguments): { model?: ModelName; thinkingLevel?: ThinkingLevel } {
  if (model === undefined) {
    if (provider !== undefined) throw new UsageError('--provider requires --model');
    return {};
  }
  const [, name = model, level] = /^(.+):([a-z]+)$/.exec(model) ?? [];
  const thinkingLevel = level !== undefined && isLevel(level) ? level : undefined;
  const found = findModel(new ModelRegistry(), thinkingLevel ? name : model, provider);
  return { model: found, ...(thinkingLevel ? { thinkingLevel } : {}) };
}

async function scriptOf({ script }: Arguments) {
  if (script === undefined) return undefined;
  const { parseScript, ScriptError } = await import('../model/scripted/script.ts');
  try {
    return parseScript(readFileSync(script, 'utf8'), script);
  } catch (error) {
    if (error instanceof ScriptError) throw new UsageError(error.message);
    throw new UsageError(`--script: ${messageOf(error)}`);
  }
}
