import type { SlashCommand } from '../../../protocol/generated/vocabulary.ts';
import type { LiveSession } from '../state/live-session.ts';

const MAX_SUGGESTED_FILES = 30;

/** Returns the slash commands of the session. */
export async function loadSlashCommands({ remote }: LiveSession): Promise<readonly SlashCommand[]> {
  return (await remote.getCommands()).commands;
}

/** Returns project paths that match the query; those of folders end with `/`. */
export async function findPaths({ remote }: LiveSession, query: string): Promise<readonly string[]> {
  const { files } = await remote.listFiles({ query, limit: MAX_SUGGESTED_FILES });
  return files.map(({ path }) => path);
}
