import type { TreeEntry } from './exported-session.ts';

export interface OutlineRow {
  readonly entry: TreeEntry;
  // Number of forks above it.
  readonly depth: number;
}

export const filters = ['default', 'no-tools', 'user-only', 'all'] as const;
export type OutlineFilter = (typeof filters)[number];

const SETTINGS = new Set([
  'label',
  'custom',
  'usage',
  'model_change',
  'thinking_level_change',
  'session_info',
  'context_edit',
]);
const TOOLS = new Set(['toolResult', 'bashExecution']);

export function passesFilter({ kind, message }: TreeEntry, filter: OutlineFilter): boolean {
  if (filter === 'all') return true;
  if (filter === 'user-only') return kind === 'user';
  if (SETTINGS.has(kind) || (filter === 'no-tools' && TOOLS.has(kind))) return false;
  return kind !== 'assistant' || hasText(message['content']);
}

// A message that only calls tools is represented by its results.
const hasText = (content: unknown) =>
  !Array.isArray(content) ||
  content.length === 0 ||
  content.some((block) => typeof block?.text === 'string' && block.text.trim() !== '');

/** Lists the outline rows of the tree; only forks are indented. */
export function outlineRows(roots: readonly TreeEntry[], isIncluded: (entry: TreeEntry) => boolean): OutlineRow[] {
  const rows: OutlineRow[] = [];
  const pending = nearestIncluded(roots, isIncluded)
    .map((entry) => ({ entry, depth: 0 }))
    .reverse();
  for (let row = pending.pop(); row; row = pending.pop()) {
    rows.push(row);
    const below = nearestIncluded(row.entry.children, isIncluded);
    const depth = row.depth + (below.length > 1 ? 1 : 0);
    for (const entry of below.reverse()) pending.push({ entry, depth });
  }
  return rows;
}

/** The topmost included entries of these subtrees. */
function nearestIncluded(entries: readonly TreeEntry[], isIncluded: (entry: TreeEntry) => boolean): TreeEntry[] {
  const found: TreeEntry[] = [];
  const pending = entries.toReversed();
  for (let entry = pending.pop(); entry; entry = pending.pop()) {
    if (isIncluded(entry)) found.push(entry);
    else for (const child of entry.children.toReversed()) pending.push(child);
  }
  return found;
}
