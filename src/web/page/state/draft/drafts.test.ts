import { expect, it } from 'vitest';
import { DraftStore, MAX_DRAFT_CHARACTERS, MAX_DRAFTS } from './draft-store.ts';
import { Drafts } from './drafts.ts';

/** Local storage for several tabs; `capacity` is the number of characters it takes. */
class FakeStorage implements Storage {
  readonly #items = new Map<string, string>();
  readonly #capacity: number;
  // The number of reads and writes.
  uses = 0;

  constructor(capacity = Number.POSITIVE_INFINITY) {
    this.#capacity = capacity;
  }

  get length(): number {
    return this.#items.size;
  }

  key = (at: number) => {
    this.uses++;
    return [...this.#items.keys()][at] ?? null;
  };
  getItem = (key: string) => {
    this.uses++;
    return this.#items.get(key) ?? null;
  };
  removeItem = (key: string) => void this.#items.delete(key);
  clear = () => this.#items.clear();

  setItem = (key: string, value: string) => {
    this.uses++;
    if (value.length > this.#capacity) throw new DOMException('Full', 'QuotaExceededError');
    this.#items.set(key, value);
  };
}

/** Two tabs with storage events between them. */
function tabs(storage: FakeStorage) {
  const stores = [new DraftStore(storage), new DraftStore(storage)] as const;
  const [one, other] = [new Drafts(stores[0]), new Drafts(stores[1])];
  const event = { key: 'tau-draft:s', storageArea: storage } as unknown as StorageEvent;
  const notify = (drafts: Drafts) => () => {
    for (const store of stores) store.flush();
    drafts.onStorage(event);
  };
  return { one: one.text('s'), other: other.text('s'), tellOne: notify(one), tellOther: notify(other) };
}

it('a draft is there on the next page load, until it is empty', () => {
  const storage = new FakeStorage();
  const store = new DraftStore(storage);
  const drafts = new Drafts(store);
  drafts.text('a').value = 'half a sen';
  drafts.text('b').value = 'another';
  store.flush();

  const next = new Drafts(new DraftStore(storage));
  const kept = [next.text('a').value, next.text('b').value];
  next.text('a').value = '';

  expect(kept).toEqual(['half a sen', 'another']);
  expect(storage.length).toBe(1);
});

it('a tab without own text shows the draft of another tab, and a tab with own text keeps it', () => {
  const { one, other, tellOne, tellOther } = tabs(new FakeStorage());

  one.value = 'from one';
  tellOther();
  const shown = other.value;
  other.value = 'from one, and other';
  tellOne();
  const own = one.value;
  one.value = '';
  tellOther();

  expect([shown, own, other.value]).toEqual(['from one', 'from one', 'from one, and other']);
});

it('a draft sent in one tab disappears from another tab that only showed it', () => {
  const { one, other, tellOther } = tabs(new FakeStorage());
  one.value = 'send me';
  tellOther();

  one.value = '';
  tellOther();

  expect(other.value).toBe('');
});

it('the store keeps the last MAX_DRAFTS drafts and none that is too long', () => {
  const storage = new FakeStorage();
  for (let at = 0; at < MAX_DRAFTS + 5; at++)
    storage.setItem(`tau-draft:s${at}`, JSON.stringify({ text: 'text', writtenAt: at }));
  const store = new DraftStore(storage);
  const drafts = new Drafts(store);
  const [before, first, last] = [storage.length, drafts.text('s4').value, drafts.text('s5').value];

  drafts.text('long').value = 'x'.repeat(MAX_DRAFT_CHARACTERS + 1);
  store.flush();

  expect([before, first, last]).toEqual([MAX_DRAFTS, '', 'text']);
  expect(storage.length).toBe(MAX_DRAFTS);
  expect(drafts.text('long').value).toHaveLength(MAX_DRAFT_CHARACTERS + 1);
});

it('typing does not touch the storage: a draft is stored in a pause or when the page closes, and removed at once when sent', () => {
  const storage = new FakeStorage();
  const store = new DraftStore(storage);
  const draft = new Drafts(store).text('s');
  const before = storage.uses;

  for (const letter of 'half a sentence') draft.value += letter;
  const whileWriting = storage.uses - before;
  store.flush();
  const [afterwards, kept] = [storage.uses - before, new DraftStore(storage).get('s')];
  draft.value = '';

  expect([whileWriting, afterwards, kept]).toEqual([0, 1, 'half a sentence']);
  expect(storage.length).toBe(0);
});

it('a removed draft and a discarded draft leave nothing in the storage', () => {
  const storage = new FakeStorage();
  const store = new DraftStore(storage);
  const drafts = new Drafts(store);
  storage.setItem('tau-draft:a', JSON.stringify({ text: 'of a', writtenAt: 1 }));
  drafts.get('b').attach({ kind: 'text', name: 'b.txt', text: 'b', bytes: 1 });

  drafts.remove('a');
  drafts.remove('b');
  drafts.text('c').value = 'of c';
  drafts.discard();
  store.flush();

  expect(storage.length).toBe(0);
  expect(drafts.get('b').isEmpty).toBe(true);
});

it.each([undefined, new FakeStorage(10)])('drafts work without usable storage', (storage) => {
  const store = new DraftStore(storage);
  const drafts = new Drafts(store);

  drafts.text('a').value = 'a text of some length';
  store.flush();

  expect(drafts.text('a').value).toBe('a text of some length');
});

it('malformed stored drafts are ignored', () => {
  const storage = new FakeStorage();
  storage.setItem('tau-draft:a', 'no JSON');
  storage.setItem('tau-draft:b', '{"text":1}');
  const drafts = new Drafts(new DraftStore(storage));

  expect([drafts.text('a').value, drafts.text('b').value]).toEqual(['', '']);
});
