import { callsOf } from '../../agent/answer.ts';
import type { AgentMessage, CompactionEntry } from '../../protocol/generated/vocabulary.ts';

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

/** What the tools in these messages did with files, and what the compaction before knew of. */
export function fileOperations(
  messages: readonly AgentMessage[],
  previous: CompactionEntry | undefined,
): FileOperations {
  const known = previous && !previous.fromHook ? filesIn(previous.details) : { readFiles: [], modifiedFiles: [] };
  const read = new Set(known.readFiles);
  const written = new Set<string>();
  const edited = new Set(known.modifiedFiles);
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

/** What a compaction noted; those of other programs may have noted anything. */
function filesIn(details: unknown): TouchedFiles {
  const { readFiles, modifiedFiles } = (details ?? {}) as Partial<Record<keyof TouchedFiles, unknown>>;
  return { readFiles: texts(readFiles), modifiedFiles: texts(modifiedFiles) };
}

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
