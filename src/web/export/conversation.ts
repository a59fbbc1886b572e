import { element } from '../element.ts';
import { listOf, textOf } from '../fields.ts';
import { isShown, showEntry } from './entry-view.tsx';
import { branchTo, type Entry, type Session } from './session/session.ts';
import { unclip } from './unclip.ts';

/** Entries that are built together. */
interface Chunk {
  readonly place: HTMLElement;
  readonly entries: readonly { readonly entry: Entry; readonly continues: boolean }[];
  isBuilt: boolean;
}

const CHUNK = 12;
/** How far ahead of the reader chunks are built. */
const AHEAD = '1500px';
/** A longer conversation is built only where it is read. */
const BUILD_ALL = 20_000;
const SLICE_MS = 12;

/** The entries of one branch, built in chunks as they are needed, then the rest whenever there is time. */
export class Conversation {
  readonly #session: Session;
  readonly #place: HTMLElement;
  readonly #observer: IntersectionObserver;
  readonly #onBuilt: () => void;
  #chunks: Chunk[] = [];
  #chunkOf = new Map<Entry, Chunk>();
  #placeOf = new Map<Entry, HTMLElement>();
  #results = new Map<string, Entry>();
  #branch: readonly Entry[] = [];
  #building = 0;

  constructor(session: Session, place: HTMLElement, onBuilt: () => void) {
    this.#session = session;
    this.#place = place;
    this.#onBuilt = onBuilt;
    this.#observer = new IntersectionObserver((seen) => this.#approach(seen), { rootMargin: `${AHEAD} 0px` });
  }

  /** The entries from the root to the leaf, also those that show nothing. */
  get branch(): readonly Entry[] {
    return this.#branch;
  }

  /** Shows the branch that ends with this entry. */
  show(leaf: Entry | undefined): void {
    this.#observer.disconnect();
    this.#branch = branchTo(leaf);
    this.#chunkOf = new Map();
    this.#placeOf = new Map();
    this.#results = resultsOf(this.#branch);
    this.#chunks = this.#plan();
    this.#place.replaceChildren(...this.#chunks.map(({ place }) => place));
    const [first] = this.#chunks;
    if (first) this.#build(first);
    for (const { place } of this.#chunks) this.#observer.observe(place);
    this.#buildOn(++this.#building);
  }

  /** Where an entry of the branch is shown; undefined when it shows nothing. */
  placeOf(entry: Entry): HTMLElement | undefined {
    const chunk = this.#chunkOf.get(entry);
    if (chunk) this.#build(chunk);
    return this.#placeOf.get(entry);
  }

  /** The same, without building anything. */
  builtPlaceOf(entry: Entry): HTMLElement | undefined {
    return this.#placeOf.get(entry);
  }

  /** Builds everything and opens what is folded. Answers how to fold it again. */
  unfoldAll(): () => void {
    for (const chunk of this.#chunks) this.#build(chunk);
    unclip(this.#place);
    const closed = [...this.#place.querySelectorAll<HTMLDetailsElement>('details:not([open])')];
    for (const details of closed) details.open = true;
    return () => {
      for (const details of closed) details.open = false;
    };
  }

  #plan(): Chunk[] {
    const calls = new Set(this.#branch.flatMap(callsOf));
    const isOwn = (entry: Entry) => entry.kind !== 'toolResult' || !calls.has(textOf(entry.message['toolCallId']));
    const shown = this.#branch.filter((entry) => isShown(entry) && isOwn(entry));
    const chunks: Chunk[] = [];
    for (let at = 0; at < shown.length; at += CHUNK) {
      const entries = shown
        .slice(at, at + CHUNK)
        .map((entry, index) => ({ entry, continues: isAnswer(entry) && isAnswer(shown[at + index - 1]) }));
      const place = element('div', { class: 'chunk' });
      const height = entries.reduce((sum, { entry }) => sum + guessHeight(entry), 0);
      place.style.minHeight = `${height}px`;
      place.style.setProperty('contain-intrinsic-size', `auto ${height}px`);
      const chunk = { place, entries, isBuilt: false };
      chunks.push(chunk);
      for (const { entry } of entries) this.#expect(entry, chunk);
    }
    return chunks;
  }

  /** Results are built with the answer that asked for them. */
  #expect(entry: Entry, chunk: Chunk): void {
    this.#chunkOf.set(entry, chunk);
    for (const call of callsOf(entry)) {
      const result = this.#results.get(call);
      if (result) this.#chunkOf.set(result, chunk);
    }
  }

  #build(chunk: Chunk): void {
    if (chunk.isBuilt) return;
    chunk.isBuilt = true;
    this.#observer.unobserve(chunk.place);
    for (const { entry, continues } of chunk.entries) {
      const around = { resultOf: (callId: string) => this.#results.get(callId)?.message };
      const shown = showEntry(entry, { around, continues, label: this.#session.labels.get(entry.id) });
      this.#placeOf.set(entry, shown);
      this.#placeResults(shown);
      chunk.place.append(shown);
    }
    chunk.place.style.minHeight = '';
    this.#onBuilt();
  }

  /** Results are found in the cards of their calls. */
  #placeResults(shown: HTMLElement): void {
    for (const card of shown.querySelectorAll<HTMLElement>('[data-call]')) {
      const result = this.#results.get(card.dataset['call'] ?? '');
      if (result && !this.#placeOf.has(result)) this.#placeOf.set(result, card);
    }
  }

  #approach(seen: readonly IntersectionObserverEntry[]): void {
    const near = new Set(seen.filter(({ isIntersecting }) => isIntersecting).map(({ target }) => target));
    for (const chunk of this.#chunks) if (near.has(chunk.place)) this.#build(chunk);
  }

  /** Builds the rest, a little at a time, so that the search of the browser finds it too. */
  #buildOn(building: number): void {
    if (this.#branch.length > BUILD_ALL) return;
    let next = 0;
    const go = () => {
      if (building !== this.#building) return;
      const pauseAt = performance.now() + SLICE_MS;
      while (next < this.#chunks.length && performance.now() < pauseAt) {
        const chunk = this.#chunks[next++];
        if (chunk) this.#build(chunk);
      }
      if (next < this.#chunks.length) whenIdle(go);
    };
    whenIdle(go);
  }
}

const isAnswer = (entry: Entry | undefined) => entry?.kind === 'assistant';

function resultsOf(branch: readonly Entry[]): Map<string, Entry> {
  const results = branch.filter(({ kind }) => kind === 'toolResult');
  return new Map(results.map((entry) => [textOf(entry.message['toolCallId']), entry]));
}

const callsOf = ({ kind, message }: Entry): string[] =>
  kind === 'assistant'
    ? listOf(message['content']).flatMap((block) => (block['type'] === 'toolCall' ? [textOf(block['id'])] : []))
    : [];

/** How much room an entry may take, until it is built. */
function guessHeight({ kind, message }: Entry): number {
  if (kind === 'user') return 110;
  return kind === 'assistant' ? 90 + listOf(message['content']).length * 90 : 48;
}

/** Not every browser tells when it has nothing to do. */
function whenIdle(work: () => void): void {
  if ('requestIdleCallback' in window) requestIdleCallback(work, { timeout: 500 });
  else setTimeout(work, 30);
}
