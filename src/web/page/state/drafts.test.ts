import { expect, it } from 'vitest';
import { DraftStore, MAX_DRAFT_CHARACTERS, MAX_DRAFTS } from './draft-store.ts';
import { Drafts } from './drafts.ts';

/** What browsers keep, for as many tabs as there are. `room`: characters that it takes. */
class Shelf implements Storage {
  readonly #items = new Map<string, string>();
  readonly #room: number;

  constructor(room = Number.POSITIVE_INFINITY) {
    this.#room = room;
  }

  get length(): number {
    return this.#items.size;
  }

  key = (at: number) => [...this.#items.keys()][at] ?? null;
  getItem = (key: string) => this.#items.get(key) ?? null;
  removeItem = (key: string) => void this.#items.delete(key);
  clear = () => this.#items.clear();

  setItem = (key: string, value: string) => {
    if (value.length > this.#room) throw new DOMException('Full', 'QuotaExceededError');
    this.#items.set(key, value);
  };
}

/** Two tabs: what one writes the other is told. */
function tabs(shelf: Shelf) {
  const [one, other] = [new Drafts(new DraftStore(shelf)), new Drafts(new DraftStore(shelf))];
  const told = { key: 'tau-draft:s', storageArea: shelf } as unknown as StorageEvent;
  return { one: one.of('s'), other: other.of('s'), tellOne: () => one.hear(told), tellOther: () => other.hear(told) };
}

it('a draft is there again for the next page, until it is empty', () => {
  const shelf = new Shelf();
  new Drafts(new DraftStore(shelf)).of('a').value = 'half a sen';
  new Drafts(new DraftStore(shelf)).of('b').value = 'another';

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

it('keeps a limited number of drafts, and none that is too long', () => {
  const shelf = new Shelf();
  const drafts = new Drafts(new DraftStore(shelf));

  for (let at = 0; at < MAX_DRAFTS + 5; at++) drafts.of(`s${at}`).value = 'text';
  drafts.of('long').value = 'x'.repeat(MAX_DRAFT_CHARACTERS + 1);

  expect(shelf.length).toBe(MAX_DRAFTS);
  expect(drafts.of('long').value).toHaveLength(MAX_DRAFT_CHARACTERS + 1);
});

it.each([undefined, new Shelf(10)])('works where nothing can be kept', (shelf) => {
  const drafts = new Drafts(new DraftStore(shelf));

  drafts.of('a').value = 'a text of some length';

  expect(drafts.of('a').value).toBe('a text of some length');
});

it('what else is on the shelf does no harm', () => {
  const shelf = new Shelf();
  shelf.setItem('tau-draft:a', 'no JSON');
  shelf.setItem('tau-draft:b', '{"text":1}');
  const drafts = new Drafts(new DraftStore(shelf));

  expect([drafts.of('a').value, drafts.of('b').value]).toEqual(['', '']);
});
