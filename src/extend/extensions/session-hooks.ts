import { resolve } from 'node:path';
import type { SessionHooks, Summary } from '../../session/hooks.ts';
import { expandHome } from '../../store/agent-dir.ts';
import type { Callers } from './callers.ts';
import type { Answered } from './events.ts';
import type { Extension } from './extension.ts';
import { userBash } from './user-bash.ts';

type Hooks = { -readonly [N in keyof SessionHooks]: SessionHooks[N] };

/** How extensions step into a session, outside of its runs. Only those hooks are there that somebody listens to. */
export function sessionHooks(callers: Callers): SessionHooks {
  const hooks: Hooks = { ...moves(callers), ...compaction(callers), ...tree(callers) };
  if (callers.hears('input')) hooks.input = (input) => transformed(callers, input);
  if (callers.hears('user_bash')) hooks.userBash = (command, signal) => userBash(callers, command, signal);
  if (callers.hears('model_select')) {
    hooks.modelSelect = ({ previousModel, ...choice }) =>
      callers.tell(
        structuredClone({ type: 'model_select' as const, previousModel: previousModel ?? undefined, ...choice }),
      );
  }
  if (callers.hears('session_info_changed')) {
    hooks.nameChange = (name) => callers.tell({ type: 'session_info_changed', name });
  }
  if (callers.hears('thinking_level_select')) {
    hooks.thinkingLevelSelect = (choice) => callers.tell({ type: 'thinking_level_select', ...choice });
  }
  return hooks;
}

function moves(callers: Callers): SessionHooks {
  const hooks: Hooks = {};
  if (callers.hears('session_start', 'session_switch', 'session_fork')) {
    hooks.sessionStart = async ({ reason, previousSessionFile }) => {
      await callers.tell({ type: 'session_start', reason, previousSessionFile });
      // The names that this had before it came with a reason.
      if (reason === 'new' || reason === 'resume') {
        await callers.tell({ type: 'session_switch', reason, previousSessionFile });
      } else if (reason === 'fork') await callers.tell({ type: 'session_fork', previousSessionFile });
    };
  }
  if (callers.hears('session_shutdown')) {
    hooks.sessionShutdown = (end) => callers.tell({ type: 'session_shutdown', ...end });
  }
  if (callers.hears('session_before_switch')) {
    hooks.beforeSwitch = async (to) => {
      for await (const { cancel } of callers.answers({ type: 'session_before_switch', ...to })) {
        if (cancel) return { cancel };
      }
      return undefined;
    };
  }
  if (callers.hears('session_before_fork')) {
    hooks.beforeFork = async (from) => {
      for await (const { cancel } of callers.answers({ type: 'session_before_fork', ...from })) {
        if (cancel) return { cancel };
      }
      return undefined;
    };
  }
  return hooks;
}

function compaction(callers: Callers): SessionHooks {
  const hooks: Hooks = {};
  if (callers.hears('session_before_compact')) {
    hooks.beforeCompact = async ({ branch, reason, willRetry, customInstructions, ...preparation }, signal) => {
      const event = {
        type: 'session_before_compact' as const,
        ...structuredClone({ preparation, branchEntries: [...branch] }),
        customInstructions,
        reason,
        willRetry,
        signal,
      };
      let written: Answered<'session_before_compact'>['compaction'];
      for await (const { cancel, compaction: own } of callers.answers(event)) {
        if (cancel) return { cancel };
        written = own ?? written;
      }
      return written;
    };
  }
  if (callers.hears('session_compact')) {
    hooks.afterCompact = ({ entry, fromHook, reason, willRetry }) =>
      callers.tell({
        type: 'session_compact',
        compactionEntry: structuredClone(entry),
        fromExtension: fromHook,
        reason,
        willRetry,
      });
  }
  if (callers.hears('session_compact_failed')) {
    hooks.compactFailed = ({ fromHook, ...end }) =>
      callers.tell({ type: 'session_compact_failed', fromExtension: fromHook, ...end });
  }
  return hooks;
}

function tree(callers: Callers): SessionHooks {
  const hooks: Hooks = {};
  if (callers.hears('session_before_tree')) {
    hooks.beforeTree = async (preparation, signal) => {
      const event = { type: 'session_before_tree' as const, preparation: { ...preparation }, signal };
      let wished: Partial<Summary> | undefined;
      for await (const { cancel, summary, ...rest } of callers.answers(event)) {
        if (cancel) return { cancel };
        wished = { ...wished, ...summary, ...rest };
      }
      return wished;
    };
  }
  if (callers.hears('session_tree')) {
    hooks.afterTree = ({ fromHook, ...done }) =>
      callers.tell({ type: 'session_tree', fromExtension: fromHook, ...done });
  }
  return hooks;
}

const transformed: (
  callers: Callers,
  input: Parameters<NonNullable<SessionHooks['input']>>[0],
) => ReturnType<NonNullable<SessionHooks['input']>> = async (callers, { text, images, source, streamingBehavior }) => {
  let current = { text, images: [...images] };
  const event = { type: 'input' as const, ...structuredClone(current), source, streamingBehavior };
  for await (const answer of callers.answers(event)) {
    if (answer.action === 'handled') return 'handled';
    if (answer.action !== 'transform') continue;
    current = { text: answer.text, images: answer.images ?? current.images };
    Object.assign(event, structuredClone(current));
  }
  return current;
};

/** Where extensions say that more skills and templates are; relative to the extension that says it. */
export async function discovered(callers: Callers, cwd: string, reason: 'startup' | 'reload') {
  const found = { skills: [] as string[], prompts: [] as string[] };
  const from = (extension: Extension, paths: unknown) =>
    (Array.isArray(paths) ? paths : []).map((path) => resolve(extension.source.baseDir, String(path)));
  for await (const { answer, extension } of callers.answersBy({ type: 'resources_discover', cwd, reason })) {
    found.skills.push(...from(extension, answer.skillPaths));
    found.prompts.push(...from(extension, answer.promptPaths));
  }
  return found;
}

/** Where extensions want new sessions of a folder to be kept; the last that says so is right. */
export async function sessionFolder(callers: Callers, cwd: string): Promise<string | undefined> {
  let folder: string | undefined;
  for await (const { sessionDir } of callers.answers({ type: 'session_directory', cwd })) {
    if (typeof sessionDir === 'string' && sessionDir !== '') folder = resolve(cwd, expandHome(sessionDir));
  }
  return folder;
}

/** What extensions say of the trust in a project; the first that has an opinion is right. */
export async function trustIn(callers: Callers, cwd: string) {
  for await (const { trusted, remember } of callers.answers({ type: 'project_trust', cwd })) {
    if (trusted === 'yes' || trusted === 'no') return { trusted: trusted === 'yes', remember: remember === true };
  }
  return undefined;
}
