import { asObject, asText, type Untyped } from '../../untyped.ts';
import { type MessageUsage, readUsage } from '../../usage.ts';

// An entry and its position in the tree.
export interface TreeEntry {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly fields: Untyped;
  // The message of a message entry, else empty.
  readonly message: Untyped;
  // The role of a message, else the type of the entry.
  readonly kind: string;
  // Position in the file.
  readonly row: number;
  parent: TreeEntry | undefined;
  readonly children: TreeEntry[];
}

export interface ExportedSession {
  readonly header: Untyped;
  readonly name: string;
  readonly entries: readonly TreeEntry[];
  readonly byId: ReadonlyMap<string, TreeEntry>;
  readonly labels: ReadonlyMap<string, string>;
  // The last entry of the current branch.
  readonly leaf: TreeEntry | undefined;
}

// Parsing yields to the browser after this time.
const READ_SLICE_MS = 24;

/** Parses the lines of an exported session in slices. Malformed lines are skipped. */
export async function readSession(text: string): Promise<ExportedSession> {
  const byId = new Map<string, TreeEntry>();
  const lines = parsedLines(text);
  const { leafId } = lines.next().value ?? {};
  let header: Untyped = {};
  let last: TreeEntry | undefined;
  let pauseAt = performance.now() + READ_SLICE_MS;
  for (const fields of lines) {
    if (fields['type'] === 'session') header = fields;
    else last = addEntry(byId, fields) ?? last;
    if (performance.now() < pauseAt) continue;
    await new Promise((resolve) => setTimeout(resolve));
    pauseAt = performance.now() + READ_SLICE_MS;
  }
  const all = [...byId.values()];
  linkTree(all, byId);
  const leaf =
    leafId === null ? undefined : (byId.get(asText(leafId)) ?? (last && isLeafMarker(last) ? last.parent : last));
  for (const marker of all.filter(isLeafMarker))
    marker.parent?.children.splice(marker.parent.children.indexOf(marker), 1);
  const entries = all.filter((entry) => !isLeafMarker(entry));
  return { header, name: latestName(entries), entries, byId, labels: labelsOf(entries), leaf };
}

function* parsedLines(text: string): Generator<Untyped> {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start);
    const line = text.slice(start, end === -1 ? text.length : end);
    start = end === -1 ? text.length : end + 1;
    try {
      yield asObject(JSON.parse(line));
    } catch {
      // A crash can leave half a line.
    }
  }
}

/** The first entry with an id wins. */
function addEntry(byId: Map<string, TreeEntry>, fields: Untyped): TreeEntry | undefined {
  const id = asText(fields['id']);
  const type = asText(fields['type']);
  const message = type === 'message' ? asObject(fields['message']) : {};
  const kind = type === 'message' ? asText(message['role']) : type;
  if (id === '' || kind === '') return undefined;
  const existing = byId.get(id);
  if (existing) return existing;
  const timestamp = asText(fields['timestamp']);
  const entry = { id, type, timestamp, fields, message, kind, row: byId.size, parent: undefined, children: [] };
  byId.set(id, entry);
  return entry;
}

/** An entry with a missing parent or in a cycle becomes a root. */
function linkTree(entries: readonly TreeEntry[], byId: ReadonlyMap<string, TreeEntry>): void {
  for (const entry of entries) {
    const parent = byId.get(asText(entry.fields['parentId']));
    entry.parent = parent === entry ? undefined : parent;
  }
  const seenBy = new Map<TreeEntry, TreeEntry>();
  for (const start of entries) {
    for (let entry: TreeEntry | undefined = start; entry && !seenBy.has(entry); entry = entry.parent) {
      seenBy.set(entry, start);
      if (entry.parent && seenBy.get(entry.parent) === start) entry.parent = undefined;
    }
  }
  for (const entry of entries) entry.parent?.children.push(entry);
}

function labelsOf(entries: readonly TreeEntry[]): Map<string, string> {
  const labels = new Map<string, string>();
  for (const { type, fields } of entries)
    if (type === 'label') labels.set(asText(fields['targetId']), asText(fields['label']));
  for (const [id, label] of labels) if (label === '') labels.delete(id);
  return labels;
}

const latestName = (entries: readonly TreeEntry[]): string =>
  asText(entries.findLast(({ type }) => type === 'session_info')?.fields['name']).trim();

/** Whether an entry only records that the conversation continued at its parent. */
const isLeafMarker = ({ fields, children }: TreeEntry) => fields['customType'] === 'tau:leaf' && children.length === 0;

export function branchTo(leaf: TreeEntry | undefined): TreeEntry[] {
  const branch: TreeEntry[] = [];
  for (let entry = leaf; entry; entry = entry.parent) branch.push(entry);
  return branch.reverse();
}

/** The leaf of the newest branch through an entry. */
export function newestLeaf(entry: TreeEntry): TreeEntry {
  let leaf = entry;
  for (let next = leaf.children.at(-1); next; next = leaf.children.at(-1)) leaf = next;
  return leaf;
}

export interface SessionTotals extends MessageUsage {
  readonly models: readonly string[];
  readonly prompts: number;
  readonly responses: number;
  readonly toolCalls: number;
  readonly branches: number;
}

/** Sums up all branches, since all of them were paid for. */
export function totalsOf(entries: readonly TreeEntry[]): SessionTotals {
  const sum = { input: 0, output: 0, cached: 0, cost: 0 };
  const models = new Set<string>();
  const count = (kind: string) => entries.reduce((total, entry) => total + (entry.kind === kind ? 1 : 0), 0);
  for (const { kind, message, fields } of entries) {
    const usage = readUsage(message['usage'] ?? fields['usage']);
    sum.input += usage.input;
    sum.output += usage.output;
    sum.cached += usage.cached;
    sum.cost += usage.cost;
    if (kind === 'assistant') models.add(asText(message['model']));
  }
  models.delete('');
  return {
    ...sum,
    models: [...models],
    prompts: count('user'),
    responses: count('assistant'),
    toolCalls: count('toolResult'),
    branches: entries.reduce((ends, { children }) => ends + (children.length === 0 ? 1 : 0), 0),
  };
}
