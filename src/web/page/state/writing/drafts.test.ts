import { expect, it } from 'vitest';
import { DraftStore, MAX_DRAFT_CHARACTERS, MAX_DRAFTS } from './draft-store.ts';
import { Drafts } from './drafts.ts';

/** What browsers keep, for as many tabs as there are. `room`: characters that it takes. */
class Shelf implements Storage {
  readonly #items = new Map<string, string>();
  readonly #room: number;
  /** How often something was read or written. */
  uses = 0;

  constructor(room = Number.POSITIVE_INFINITY) {
    this.#room = room;
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
    if (value.length > this.#room) throw new DOMException('Full', 'QuotaExceededError');
    this.#items.set(key, value);
  };
}

/** Two tabs: what one writes the other is told. */
function tabs(shelf: Shelf) {
  const stores = [new DraftStore(shelf), new DraftStore(shelf)] as const;
  const [one, other] = [new Drafts(stores[0]), new Drafts(stores[1])];
  const told = { key: 'tau-draft:s', storageArea: shelf } as unknown as StorageEvent;
  const tell = (drafts: Drafts) => () => {
    for (const store of stores) store.flush();
    drafts.hear(told);
  };
  return { one: one.of('s'), other: other.of('s'), tellOne: tell(one), tellOther: tell(other) };
}

it('a draft is there again for the next page, until it is empty', () => {
  const shelf = new Shelf();
  const store = new DraftStore(shelf);
  const drafts = new Drafts(store);
  drafts.of('a').value = 'half a sen';
  drafts.of('b').value = 'another';
  store.flush();

  const next = new Drafts(new DraftStore(shelf));
  const kept = [next.of('a').value, next.of('b').value];
  next.of('a').value = '';

  expect(kept).toEqual(['half a sen', 'another']);
  expect(shelf.length).toBe(1);
});

it('a tab in which nothing was written shows what another writes, and one that has its own keeps it', () => {
  const { one, other, tellOne, tellOther } = tabs(new Shelf());

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

it('a draft that was sent in one tab is gone in another that only showed it', () => {
  const { one, other, tellOther } = tabs(new Shelf());
  one.value = 'send me';
  tellOther();

  one.value = '';
  tellOther();

  expect(other.value).toBe('');
});

it('keeps a limited number of drafts from one page to the next, the last ones, and none that is too long', () => {
  const shelf = new Shelf();
  for (let at = 0; at < MAX_DRAFTS + 5; at++)
    shelf.setItem(`tau-draft:s${at}`, JSON.stringify({ text: 'text', writtenAt: at }));
  const store = new DraftStore(shelf);
  const drafts = new Drafts(store);
  const [before, first, last] = [shelf.length, drafts.of('s4').value, drafts.of('s5').value];

  drafts.of('long').value = 'x'.repeat(MAX_DRAFT_CHARACTERS + 1);
  store.flush();

  expect([before, first, last]).toEqual([MAX_DRAFTS, '', 'text']);
  expect(shelf.length).toBe(MAX_DRAFTS);
  expect(drafts.of('long').value).toHaveLength(MAX_DRAFT_CHARACTERS + 1);
});

it('a letter costs nothing: what is written is kept in a pause, or when the page goes, and forgotten at once', () => {
  const shelf = new Shelf();
  const store = new DraftStore(shelf);
  const draft = new Drafts(store).of('s');
  const before = shelf.uses;

  for (const letter of 'half a sentence') draft.value += letter;
  const whileWriting = shelf.uses - before;
  store.flush();
  const [afterwards, kept] = [shelf.uses - before, new DraftStore(shelf).get('s')];
  draft.value = '';

  expect([whileWriting, afterwards, kept]).toEqual([0, 1, 'half a sentence']);
  expect(shelf.length).toBe(0);
});

it('nothing is left of a draft that is forgotten, nor of one that is not to be kept', () => {
  const shelf = new Shelf();
  const store = new DraftStore(shelf);
  const drafts = new Drafts(store);
  shelf.setItem('tau-draft:a', JSON.stringify({ text: 'of a', writtenAt: 1 }));
  drafts.writingIn('b').attach({ kind: 'text', name: 'b.txt', text: 'b', bytes: 1 });

  drafts.forget('a');
  drafts.forget('b');
  drafts.of('c').value = 'of c';
  drafts.dropUnkept();
  store.flush();

  expect(shelf.length).toBe(0);
  expect(drafts.writingIn('b').isEmpty).toBe(true);
});

it.each([undefined, new Shelf(10)])('works where nothing can be kept', (shelf) => {
  const store = new DraftStore(shelf);
  const drafts = new Drafts(store);

  drafts.of('a').value = 'a text of some length';
  store.flush();

  expect(drafts.of('a').value).toBe('a text of some length');
});

it('what else is on the shelf does no harm', () => {
  const shelf = new Shelf();
  shelf.setItem('tau-draft:a', 'no JSON');
  shelf.setItem('tau-draft:b', '{"text":1}');
  const drafts = new Drafts(new DraftStore(shelf));

  expect([drafts.of('a').value, drafts.of('b').value]).toEqual(['', '']);
});
