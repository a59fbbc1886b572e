import { callsOf } from '../../agent/answer.ts';
import type { AgentMessage } from '../../protocol/generated/vocabulary.ts';

/** Files that tools were given, in the order of their names. */
export interface TouchedFiles {
  readonly readFiles: readonly string[];
  readonly modifiedFiles: readonly string[];
}

const changing: ReadonlySet<string> = new Set(['write', 'edit']);

/** A summary that was stored, as far as it may know of files. */
interface Noted {
  readonly details?: unknown;
  readonly fromHook?: boolean | undefined;
}

/** The files of these messages, with those that earlier summaries knew. One that was changed is not also read. */
export function touchedFiles(messages: readonly AgentMessage[], earlier: readonly Noted[]): TouchedFiles {
  const known = earlier.filter(({ fromHook }) => !fromHook).map(({ details }) => filesIn(details));
  const read = new Set(known.flatMap(({ readFiles }) => readFiles));
  const modified = new Set(known.flatMap(({ modifiedFiles }) => modifiedFiles));
  for (const message of messages) {
    if (message.role !== 'assistant') continue;
    for (const {
      name,
      arguments: { path },
    } of callsOf(message)) {
      if (typeof path !== 'string') continue;
      if (changing.has(name)) modified.add(path);
      else if (name === 'read') read.add(path);
    }
  }
  return {
    readFiles: [...read].filter((path) => !modified.has(path)).sort(),
    modifiedFiles: [...modified].sort(),
  };
}

/** What a summary noted; those of other programs may have noted anything. */
function filesIn(details: unknown): TouchedFiles {
  const { readFiles, modifiedFiles } = (details ?? {}) as Partial<Record<keyof TouchedFiles, unknown>>;
  return { readFiles: texts(readFiles), modifiedFiles: texts(modifiedFiles) };
}

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
