import { type Fields, fieldsOf, textOf } from '../../fields.ts';

/** An entry in its place in the tree. */
export interface Entry {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly fields: Fields;
  /** Of a message; empty for anything else. */
  readonly message: Fields;
  /** The role of a message, the type of anything else. */
  readonly kind: string;
  /** Where it stands in the file. */
  readonly row: number;
  parent: Entry | undefined;
  readonly children: Entry[];
}

/** A session as the page knows it. */
export interface Session {
  readonly header: Fields;
  readonly name: string;
  readonly entries: readonly Entry[];
  readonly byId: ReadonlyMap<string, Entry>;
  readonly labels: ReadonlyMap<string, string>;
  /** Where the conversation stands. */
  readonly leaf: Entry | undefined;
}

/** How long reading may hold up everything else. */
const SLICE_MS = 24;

/** Reads the lines of a session, pausing now and then. Lines that are broken are left out. */
export async function readSession(text: string): Promise<Session> {
  const byId = new Map<string, Entry>();
  const lines = linesOf(text);
  const { leafId } = lines.next().value ?? {};
  let header: Fields = {};
  let last: Entry | undefined;
  let pauseAt = performance.now() + SLICE_MS;
  for (const fields of lines) {
    if (fields['type'] === 'session') header = fields;
    else last = keep(byId, fields) ?? last;
    if (performance.now() < pauseAt) continue;
    await new Promise((resolve) => setTimeout(resolve));
    pauseAt = performance.now() + SLICE_MS;
  }
  const all = [...byId.values()];
  link(all, byId);
  const leaf = leafId === null ? undefined : (byId.get(textOf(leafId)) ?? (last && isMark(last) ? last.parent : last));
  for (const mark of all.filter(isMark)) mark.parent?.children.splice(mark.parent.children.indexOf(mark), 1);
  const entries = all.filter((entry) => !isMark(entry));
  return { header, name: nameOf(entries), entries, byId, labels: labelsOf(entries), leaf };
}

function* linesOf(text: string): Generator<Fields> {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start);
    const line = text.slice(start, end === -1 ? text.length : end);
    start = end === -1 ? text.length : end + 1;
    try {
      yield fieldsOf(JSON.parse(line));
    } catch {
      // Half a line that a crash left behind.
    }
  }
}

/** An id that was taken counts as the entry that took it. */
function keep(byId: Map<string, Entry>, fields: Fields): Entry | undefined {
  const id = textOf(fields['id']);
  const type = textOf(fields['type']);
  const message = type === 'message' ? fieldsOf(fields['message']) : {};
  const kind = type === 'message' ? textOf(message['role']) : type;
  if (id === '' || kind === '') return undefined;
  const known = byId.get(id);
  if (known) return known;
  const timestamp = textOf(fields['timestamp']);
  const entry = { id, type, timestamp, fields, message, kind, row: byId.size, parent: undefined, children: [] };
  byId.set(id, entry);
  return entry;
}

/** An entry whose parent is missing, or hangs on it in turn, is a root. */
function link(entries: readonly Entry[], byId: ReadonlyMap<string, Entry>): void {
  for (const entry of entries) {
    const parent = byId.get(textOf(entry.fields['parentId']));
    entry.parent = parent === entry ? undefined : parent;
  }
  const seenBy = new Map<Entry, Entry>();
  for (const start of entries) {
    for (let entry: Entry | undefined = start; entry && !seenBy.has(entry); entry = entry.parent) {
      seenBy.set(entry, start);
      if (entry.parent && seenBy.get(entry.parent) === start) entry.parent = undefined;
    }
  }
  for (const entry of entries) entry.parent?.children.push(entry);
}

function labelsOf(entries: readonly Entry[]): Map<string, string> {
  const labels = new Map<string, string>();
  for (const { type, fields } of entries)
    if (type === 'label') labels.set(textOf(fields['targetId']), textOf(fields['label']));
  for (const [id, label] of labels) if (label === '') labels.delete(id);
  return labels;
}

/** The name that was given last, on whichever branch. */
const nameOf = (entries: readonly Entry[]): string =>
  textOf(entries.findLast(({ type }) => type === 'session_info')?.fields['name']).trim();

/** Whether an entry only says where the conversation was taken up again. */
const isMark = ({ fields, children }: Entry) => fields['customType'] === 'tau:leaf' && children.length === 0;

/** The way from the root to an entry. */
export function branchTo(leaf: Entry | undefined): Entry[] {
  const branch: Entry[] = [];
  for (let entry = leaf; entry; entry = entry.parent) branch.push(entry);
  return branch.reverse();
}

/** The end of the newest branch that an entry is on. */
export function tipOf(entry: Entry): Entry {
  let tip = entry;
  for (let next = tip.children.at(-1); next; next = tip.children.at(-1)) tip = next;
  return tip;
}
