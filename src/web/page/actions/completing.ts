import type { SlashCommand } from '../../../protocol/generated/vocabulary.ts';
import type { LiveSession } from '../state/live-session.ts';

/** Files that are offered at once. */
const MAX_SUGGESTED_FILES = 30;

/** The slash commands that messages may begin with. */
export async function loadSlashCommands({ remote }: LiveSession): Promise<readonly SlashCommand[]> {
  return (await remote.getCommands()).commands;
}

/** Paths of the project that fit what was typed of one; those of folders end with `/`. */
export async function findPaths({ remote }: LiveSession, query: string): Promise<readonly string[]> {
  const { files } = await remote.listFiles({ query, limit: MAX_SUGGESTED_FILES });
  return files.map(({ path }) => path);
}
