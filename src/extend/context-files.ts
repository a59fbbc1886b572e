import { dirname, join, resolve } from 'node:path';
import type { ContextFile } from '../session/context/system-prompt.ts';
import { realPath } from '../system/files/real-path.ts';
import { tryReadPromptFile } from './prompt-file.ts';

// Each folder contributes the first of these that is a file.
const CONTEXT_FILE_NAMES = ['AGENTS.override.md', 'AGENTS.md', 'AGENTS.MD', 'CLAUDE.md', 'CLAUDE.MD'];

/** The context files for the system prompt: the agent folder first, then all folders from the root down; no file twice. */
export function contextFiles({ agentDir, cwd }: { agentDir: string; cwd: string }): ContextFile[] {
  const seen = new Set<string>();
  return [agentDir, ...foldersDownTo(resolve(cwd))].flatMap((folder) => {
    for (const name of CONTEXT_FILE_NAMES) {
      const path = join(folder, name);
      const text = tryReadPromptFile(path);
      if (text === undefined) continue;
      const real = realPath(path);
      if (seen.has(real) || text.trim() === '') return [];
      seen.add(real);
      return [{ path, text }];
    }
    return [];
  });
}

function foldersDownTo(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [...foldersDownTo(parent), folder];
}
