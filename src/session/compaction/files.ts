import { toolCallsOf } from '../../agent/tool-calls.ts';
import type { AgentMessage } from '../../protocol/generated/vocabulary.ts';

/** Files that tools read or modified, sorted by path. */
export interface TouchedFiles {
  readonly readFiles: readonly string[];
  readonly modifiedFiles: readonly string[];
}

/** File paths by the kind of tool call that used them. */
export interface FileOperations {
  readonly read: ReadonlySet<string>;
  readonly written: ReadonlySet<string>;
  readonly edited: ReadonlySet<string>;
}

// A stored summary entry, whose `details` may list files.
interface StoredSummary {
  readonly details?: unknown;
  readonly fromHook?: boolean | undefined;
}

/** Collects the file paths of tool calls in these messages and of earlier summaries that tau wrote. */
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
    } of toolCallsOf(message)) {
      if (typeof path !== 'string') continue;
      if (name === 'read') read.add(path);
      else if (name === 'write') written.add(path);
      else if (name === 'edit') edited.add(path);
    }
  }
  return { read, written, edited };
}

/** The files as two lists; a modified file is not listed as read. */
export function touchedFiles({ read, written, edited }: FileOperations): TouchedFiles {
  const modified = new Set([...written, ...edited]);
  return {
    readFiles: [...read].filter((path) => !modified.has(path)).sort(),
    modifiedFiles: [...modified].sort(),
  };
}

/** The file lists of a summary; other programs may have stored anything in `details`. */
function filesIn(details: unknown): TouchedFiles {
  const { readFiles, modifiedFiles } = (details ?? {}) as Partial<Record<keyof TouchedFiles, unknown>>;
  return { readFiles: strings(readFiles), modifiedFiles: strings(modifiedFiles) };
}

const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
