import { resolve } from 'node:path';
import type { SessionHooks, Summary } from '../../../session/hooks.ts';
import { expandHome } from '../../../store/agent-dir.ts';
import type { HandlerResult } from '../events.ts';
import type { Extension } from '../extension.ts';
import type { HandlerRunner } from './call-handlers.ts';
import { userBash } from './user-bash.ts';

type MutableHooks = { -readonly [N in keyof SessionHooks]: SessionHooks[N] };

/** The session hooks of the extensions outside of runs. A hook without a handler is absent. */
export function sessionHooks(runner: HandlerRunner): SessionHooks {
  const hooks: MutableHooks = { ...sessionChangeHooks(runner), ...compactionHooks(runner), ...treeHooks(runner) };
  if (runner.handles('input')) hooks.input = (input) => transformInput(runner, input);
  if (runner.handles('user_bash')) hooks.userBash = (command, signal) => userBash(runner, command, signal);
  if (runner.handles('model_select')) {
    hooks.modelSelect = ({ previousModel, ...choice }) =>
      runner.notify(
        structuredClone({ type: 'model_select' as const, previousModel: previousModel ?? undefined, ...choice }),
      );
  }
  if (runner.handles('session_info_changed')) {
    hooks.nameChange = (name) => runner.notify({ type: 'session_info_changed', name });
  }
  if (runner.handles('thinking_level_select')) {
    hooks.thinkingLevelSelect = (choice) => runner.notify({ type: 'thinking_level_select', ...choice });
  }
  return hooks;
}

function sessionChangeHooks(runner: HandlerRunner): SessionHooks {
  const hooks: MutableHooks = {};
  if (runner.handles('session_start', 'session_switch', 'session_fork')) {
    hooks.sessionStart = async ({ reason, previousSessionFile }) => {
      runner.hasShutDown = false;
      await runner.notify({ type: 'session_start', reason, previousSessionFile });
      // Older extensions handle these two events instead of `reason`.
      if (reason === 'new' || reason === 'resume') {
        await runner.notify({ type: 'session_switch', reason, previousSessionFile });
      } else if (reason === 'fork') await runner.notify({ type: 'session_fork', previousSessionFile });
    };
  }
  if (runner.handles('session_shutdown')) {
    hooks.sessionShutdown = async (end) => {
      if (!runner.hasShutDown) await runner.notify({ type: 'session_shutdown', ...end });
    };
  }
  if (runner.handles('session_before_switch')) {
    hooks.beforeSwitch = async (to) => {
      for await (const { cancel } of runner.results({ type: 'session_before_switch', ...to })) {
        if (cancel) return { cancel };
      }
      return undefined;
    };
  }
  if (runner.handles('session_before_fork')) {
    hooks.beforeFork = async (from) => {
      for await (const { cancel } of runner.results({ type: 'session_before_fork', ...from })) {
        if (cancel) return { cancel };
      }
      return undefined;
    };
  }
  return hooks;
}

function compactionHooks(runner: HandlerRunner): SessionHooks {
  const hooks: MutableHooks = {};
  if (runner.handles('session_before_compact')) {
    hooks.beforeCompact = async ({ branch, reason, willRetry, customInstructions, ...preparation }, signal) => {
      const event = {
        type: 'session_before_compact' as const,
        ...structuredClone({ preparation, branchEntries: [...branch] }),
        customInstructions,
        reason,
        willRetry,
        signal,
      };
      let written: HandlerResult<'session_before_compact'>['compaction'];
      for await (const { cancel, compaction: own } of runner.results(event)) {
        if (cancel) return { cancel };
        written = own ?? written;
      }
      return written;
    };
  }
  if (runner.handles('session_compact')) {
    hooks.afterCompact = ({ entry, fromHook, reason, willRetry }) =>
      runner.notify({
        type: 'session_compact',
        compactionEntry: structuredClone(entry),
        fromExtension: fromHook,
        reason,
        willRetry,
      });
  }
  if (runner.handles('session_compact_failed')) {
    hooks.compactFailed = ({ fromHook, ...end }) =>
      runner.notify({ type: 'session_compact_failed', fromExtension: fromHook, ...end });
  }
  return hooks;
}

function treeHooks(runner: HandlerRunner): SessionHooks {
  const hooks: MutableHooks = {};
  if (runner.handles('session_before_tree')) {
    hooks.beforeTree = async (preparation, signal) => {
      const event = { type: 'session_before_tree' as const, preparation: { ...preparation }, signal };
      let changes: Partial<Summary> | undefined;
      for await (const { cancel, summary, ...rest } of runner.results(event)) {
        if (cancel) return { cancel };
        changes = { ...changes, ...summary, ...rest };
      }
      return changes;
    };
  }
  if (runner.handles('session_tree')) {
    hooks.afterTree = ({ fromHook, ...done }) =>
      runner.notify({ type: 'session_tree', fromExtension: fromHook, ...done });
  }
  return hooks;
}

const transformInput: (
  runner: HandlerRunner,
  input: Parameters<NonNullable<SessionHooks['input']>>[0],
) => ReturnType<NonNullable<SessionHooks['input']>> = async (runner, { text, images, source, streamingBehavior }) => {
  let current = { text, images: [...images] };
  const event = { type: 'input' as const, ...structuredClone(current), source, streamingBehavior };
  for await (const result of runner.results(event)) {
    if (result.action === 'handled') return 'handled';
    if (result.action !== 'transform') continue;
    current = { text: result.text, images: result.images ?? current.images };
    Object.assign(event, structuredClone(current));
  }
  return current;
};

/** The skill and template paths that extensions add, resolved against their own folders. */
export async function discoverResources(runner: HandlerRunner, cwd: string, reason: 'startup' | 'reload') {
  const found = { skills: [] as string[], prompts: [] as string[] };
  const resolvePaths = (extension: Extension, paths: unknown) =>
    (Array.isArray(paths) ? paths : []).map((path) => resolve(extension.source.baseDir, String(path)));
  for await (const { result, extension } of runner.resultsByExtension({ type: 'resources_discover', cwd, reason })) {
    found.skills.push(...resolvePaths(extension, result.skillPaths));
    found.prompts.push(...resolvePaths(extension, result.promptPaths));
  }
  return found;
}

/** The session folder that an extension sets for a working folder; the last one wins. */
export async function sessionFolder(runner: HandlerRunner, cwd: string): Promise<string | undefined> {
  let folder: string | undefined;
  for await (const { sessionDir } of runner.results({ type: 'session_directory', cwd })) {
    if (typeof sessionDir === 'string' && sessionDir !== '') folder = resolve(cwd, expandHome(sessionDir));
  }
  return folder;
}

/** The trust decision of the extensions; the first `yes` or `no` wins. */
export async function projectTrust(runner: HandlerRunner, cwd: string) {
  for await (const { trusted, remember } of runner.results({ type: 'project_trust', cwd })) {
    if (trusted === 'yes' || trusted === 'no') return { trusted: trusted === 'yes', remember: remember === true };
  }
  return undefined;
}
