import type { AgentMessage, SessionEntry } from '../../../protocol/generated/vocabulary.ts';
import { isObject } from '../../../protocol/json.ts';
import { editedMessages, editsIn, entryMessages, sinceCompaction } from '../../../session/context/context.ts';
import { migrate } from '../../../store/sessions/migrate.ts';

/** The conversation of a branch with its model and thinking level. */
export interface SessionContext {
  messages: AgentMessage[];
  thinkingLevel: string;
  model: { provider: string; modelId: string } | null;
}

/** An entry of the context with the messages that the model gets for it. */
export interface ProjectedSessionEntry {
  sourceEntry: SessionEntry;
  messages: AgentMessage[];
}

/** The messages of one entry, without regard to compactions and edits. */
export const sessionEntryToContextMessages = (entry: SessionEntry): AgentMessage[] => entryMessages(entry);

/** The entries of a branch since its last compaction, which comes first. Without `leafId` the last entry is the leaf. */
export function buildContextEntries(
  entries: readonly SessionEntry[],
  leafId?: string | null,
  byId?: ReadonlyMap<string, SessionEntry>,
): SessionEntry[] {
  const branch = branchTo(entries, leafId, byId);
  return sinceCompaction(branch, (entry) => (entry.type === 'compaction' ? entry.firstKeptEntryId : ''));
}

/** The context entries with their messages after edits. */
export function buildSessionProjection(
  entries: readonly SessionEntry[],
  leafId?: string | null,
  byId?: ReadonlyMap<string, SessionEntry>,
): SessionContext & { entries: ProjectedSessionEntry[] } {
  const branch = branchTo(entries, leafId, byId);
  const edits = editsIn(branch);
  const projected = buildContextEntries(branch).map((sourceEntry) => ({
    sourceEntry,
    messages: editedMessages(sourceEntry, edits),
  }));
  return { entries: projected, messages: projected.flatMap(({ messages }) => messages), ...choiceIn(branch) };
}

/** The conversation that the model gets for a branch. */
export function buildSessionContext(
  entries: readonly SessionEntry[],
  leafId?: string | null,
  byId?: ReadonlyMap<string, SessionEntry>,
): SessionContext {
  const { messages, thinkingLevel, model } = buildSessionProjection(entries, leafId, byId);
  return { messages, thinkingLevel, model };
}

/** Brings the parsed lines of an older session file to the current version, in place. */
export function migrateSessionEntries(lines: unknown[]): void {
  const header = lines.find((line) => isObject(line) && line['type'] === 'session') as { version?: number } | undefined;
  const version = header?.version ?? 1;
  const text = lines.map((line) => JSON.stringify(line)).join('\n');
  const migrated = migrate(text, version).split('\n');
  lines.splice(0, lines.length, ...migrated.filter((line) => line !== '').map((line) => JSON.parse(line) as unknown));
}

function branchTo(
  entries: readonly SessionEntry[],
  leafId: string | null | undefined,
  byId: ReadonlyMap<string, SessionEntry> = new Map(entries.map((entry) => [entry.id, entry])),
): SessionEntry[] {
  if (leafId === null) return [];
  const leaf = leafId === undefined ? undefined : byId.get(leafId);
  const branch: SessionEntry[] = [];
  const visited = new Set<string>();
  let entry = leaf ?? entries.at(-1);
  while (entry && !visited.has(entry.id)) {
    visited.add(entry.id);
    branch.push(entry);
    entry = entry.parentId === null ? undefined : byId.get(entry.parentId);
  }
  return branch.reverse();
}

function choiceIn(branch: readonly SessionEntry[]): Pick<SessionContext, 'thinkingLevel' | 'model'> {
  let thinkingLevel = 'off';
  let model: SessionContext['model'] = null;
  for (const entry of branch) {
    if (entry.type === 'thinking_level_change') thinkingLevel = entry.thinkingLevel;
    else if (entry.type === 'model_change') model = { provider: entry.provider, modelId: entry.modelId };
    else if (entry.type === 'message' && entry.message.role === 'assistant')
      model = { provider: entry.message.provider, modelId: entry.message.model };
  }
  return { thinkingLevel, model };
}
