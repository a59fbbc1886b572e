import { callsOf } from '../../agent/answer.ts';
import type { AgentMessage } from '../../protocol/generated/vocabulary.ts';

/** Files that tools were given, in the order of their names. */
export interface TouchedFiles {
  readonly readFiles: readonly string[];
  readonly modifiedFiles: readonly string[];
}

/** What tools did with files. */
export interface FileOperations {
  readonly read: ReadonlySet<string>;
  readonly written: ReadonlySet<string>;
  readonly edited: ReadonlySet<string>;
}

/** A summary that was stored, as far as it may know of files. */
interface StoredSummary {
  readonly details?: unknown;
  readonly fromHook?: boolean | undefined;
}

/** What the tools in these messages did with files, and what earlier summaries knew of. */
export function fileOperations(messages: readonly AgentMessage[], earlier: readonly StoredSummary[]): FileOperations {
  const known = earlier.filter(({ fromHook }) => !fromHook).map(({ details }) => filesIn(details));
  const read = new Set(known.flatMap(({ readFiles }) => readFiles));
  const written = new Set<string>();
  const edited = new Set(known.flatMap(({ modifiedFiles }) => modifiedFiles));
  for (const message of messages) {
    if (message.role !== 'assistant') continue;
    for (const {
      name,
      arguments: { path },
    } of callsOf(message)) {
      if (typeof path !== 'string') continue;
      if (name === 'read') read.add(path);
      else if (name === 'write') written.add(path);
      else if (name === 'edit') edited.add(path);
    }
  }
  return { read, written, edited };
}

/** The files in lists. One that was changed is not also read. */
export function touchedFiles({ read, written, edited }: FileOperations): TouchedFiles {
  const modified = new Set([...written, ...edited]);
  return {
    readFiles: [...read].filter((path) => !modified.has(path)).sort(),
    modifiedFiles: [...modified].sort(),
  };
}

/** What a summary noted; those of other programs may have noted anything. */
function filesIn(details: unknown): TouchedFiles {
  const { readFiles, modifiedFiles } = (details ?? {}) as Partial<Record<keyof TouchedFiles, unknown>>;
  return { readFiles: strings(readFiles), modifiedFiles: strings(modifiedFiles) };
}

const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
