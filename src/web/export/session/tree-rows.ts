import type { Entry } from './session.ts';

/** A line of the outline. */
export interface Row {
  readonly entry: Entry;
  /** How many forks lie above it. */
  readonly depth: number;
}

export const filters = ['default', 'no-tools', 'user-only', 'all'] as const;
export type Filter = (typeof filters)[number];

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

/** Whether an entry belongs into the outline. */
export function passes({ kind, message }: Entry, filter: Filter): boolean {
  if (filter === 'all') return true;
  if (filter === 'user-only') return kind === 'user';
  if (SETTINGS.has(kind) || (filter === 'no-tools' && TOOLS.has(kind))) return false;
  return kind !== 'assistant' || saysSomething(message['content']);
}

/** An answer that only calls tools is there as its calls. */
const saysSomething = (content: unknown) =>
  !Array.isArray(content) ||
  content.length === 0 ||
  content.some((block) => typeof block?.text === 'string' && block.text.trim() !== '');

/** The outline of the tree: a conversation goes straight down, and only where it forks its branches are set in. */
export function rowsOf(roots: readonly Entry[], isIn: (entry: Entry) => boolean): Row[] {
  const rows: Row[] = [];
  const waiting = heirs(roots, isIn)
    .map((entry) => ({ entry, depth: 0 }))
    .reverse();
  for (let row = waiting.pop(); row; row = waiting.pop()) {
    rows.push(row);
    const below = heirs(row.entry.children, isIn);
    const depth = row.depth + (below.length > 1 ? 1 : 0);
    for (const entry of below.reverse()) waiting.push({ entry, depth });
  }
  return rows;
}

/** The nearest entries that are in, from these downwards. */
function heirs(entries: readonly Entry[], isIn: (entry: Entry) => boolean): Entry[] {
  const found: Entry[] = [];
  const waiting = entries.toReversed();
  for (let entry = waiting.pop(); entry; entry = waiting.pop()) {
    if (isIn(entry)) found.push(entry);
    else for (const child of entry.children.toReversed()) waiting.push(child);
  }
  return found;
}
