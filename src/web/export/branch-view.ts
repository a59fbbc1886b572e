import { options } from 'preact';
import { asObjects, asText } from '../untyped.ts';
import { element } from './element.ts';
import { isVisible, renderEntry } from './entry-view.tsx';
import { branchTo, type ExportedSession, type TreeEntry } from './session/exported-session.ts';

interface Chunk {
  readonly node: HTMLElement;
  readonly entries: readonly { readonly entry: TreeEntry; readonly continues: boolean }[];
  isBuilt: boolean;
}

const CHUNK_ENTRIES = 12;
// Chunks this close to the viewport are built.
const BUILD_MARGIN = '1500px';
// Entries of a longer branch are built only near the viewport.
const MAX_PREBUILT_ENTRIES = 20_000;
const BUILD_SLICE_MS = 12;

/** Shows the entries of one branch, built in chunks on demand and then while the browser is idle. */
export class BranchView {
  readonly #session: ExportedSession;
  readonly #container: HTMLElement;
  readonly #observer: IntersectionObserver;
  readonly #onBuilt: () => void;
  #chunks: Chunk[] = [];
  #chunkOf = new Map<TreeEntry, Chunk>();
  #nodeOf = new Map<TreeEntry, HTMLElement>();
  #results = new Map<string, TreeEntry>();
  #branch: readonly TreeEntry[] = [];
  #generation = 0;

  constructor(session: ExportedSession, container: HTMLElement, onBuilt: () => void) {
    this.#session = session;
    this.#container = container;
    this.#onBuilt = onBuilt;
    this.#observer = new IntersectionObserver((records) => this.#buildVisible(records), {
      rootMargin: `${BUILD_MARGIN} 0px`,
    });
  }

  /** The entries from the root to the leaf, including invisible ones. */
  get branch(): readonly TreeEntry[] {
    return this.#branch;
  }

  show(leaf: TreeEntry | undefined): void {
    this.#observer.disconnect();
    this.#branch = branchTo(leaf);
    this.#chunkOf = new Map();
    this.#nodeOf = new Map();
    this.#results = resultsByCallId(this.#branch);
    this.#chunks = this.#plan();
    this.#container.replaceChildren(...this.#chunks.map(({ node }) => node));
    const [first] = this.#chunks;
    if (first) this.#build(first);
    for (const { node } of this.#chunks) this.#observer.observe(node);
    this.#buildRest(++this.#generation);
  }

  /** The element of an entry, built if needed; undefined for an invisible entry. */
  nodeOf(entry: TreeEntry): HTMLElement | undefined {
    const chunk = this.#chunkOf.get(entry);
    if (chunk) this.#build(chunk);
    return this.#nodeOf.get(entry);
  }

  builtNodeOf(entry: TreeEntry): HTMLElement | undefined {
    return this.#nodeOf.get(entry);
  }

  /** Builds everything, opens all details, and returns a function that closes them again. */
  unfoldAll(): () => void {
    for (const chunk of this.#chunks) this.#build(chunk);
    showAllText(this.#container);
    const closed = [...this.#container.querySelectorAll<HTMLDetailsElement>('details:not([open])')];
    for (const details of closed) details.open = true;
    return () => {
      for (const details of closed) details.open = false;
    };
  }

  #plan(): Chunk[] {
    const calls = new Set(this.#branch.flatMap(callIdsOf));
    const isUnpaired = (entry: TreeEntry) =>
      entry.kind !== 'toolResult' || !calls.has(asText(entry.message['toolCallId']));
    const shown = this.#branch.filter((entry) => isVisible(entry) && isUnpaired(entry));
    const chunks: Chunk[] = [];
    for (let at = 0; at < shown.length; at += CHUNK_ENTRIES) {
      const entries = shown
        .slice(at, at + CHUNK_ENTRIES)
        .map((entry, index) => ({ entry, continues: isAssistant(entry) && isAssistant(shown[at + index - 1]) }));
      const node = element('div', { class: 'chunk' });
      const height = entries.reduce((sum, { entry }) => sum + estimateHeight(entry), 0);
      node.style.minHeight = `${height}px`;
      node.style.setProperty('contain-intrinsic-size', `auto ${height}px`);
      const chunk = { node, entries, isBuilt: false };
      chunks.push(chunk);
      for (const { entry } of entries) this.#assignChunk(entry, chunk);
    }
    return chunks;
  }

  /** Results are built with the message that contains their call. */
  #assignChunk(entry: TreeEntry, chunk: Chunk): void {
    this.#chunkOf.set(entry, chunk);
    for (const call of callIdsOf(entry)) {
      const result = this.#results.get(call);
      if (result) this.#chunkOf.set(result, chunk);
    }
  }

  #build(chunk: Chunk): void {
    if (chunk.isBuilt) return;
    chunk.isBuilt = true;
    this.#observer.unobserve(chunk.node);
    for (const { entry, continues } of chunk.entries) {
      const context = { resultOf: (callId: string) => this.#results.get(callId)?.message };
      const node = renderEntry(entry, { context, continues, label: this.#session.labels.get(entry.id) });
      this.#nodeOf.set(entry, node);
      this.#recordResults(node);
      chunk.node.append(node);
    }
    chunk.node.style.minHeight = '';
    this.#onBuilt();
  }

  /** The element of a result is the card of its call. */
  #recordResults(node: HTMLElement): void {
    for (const card of node.querySelectorAll<HTMLElement>('[data-call]')) {
      const result = this.#results.get(card.dataset['call'] ?? '');
      if (result && !this.#nodeOf.has(result)) this.#nodeOf.set(result, card);
    }
  }

  #buildVisible(records: readonly IntersectionObserverEntry[]): void {
    const visible = new Set(records.filter(({ isIntersecting }) => isIntersecting).map(({ target }) => target));
    for (const chunk of this.#chunks) if (visible.has(chunk.node)) this.#build(chunk);
  }

  /** Builds the rest in slices, so that the browser's own search finds it. */
  #buildRest(generation: number): void {
    if (this.#branch.length > MAX_PREBUILT_ENTRIES) return;
    let next = 0;
    const buildSlice = () => {
      if (generation !== this.#generation) return;
      const pauseAt = performance.now() + BUILD_SLICE_MS;
      while (next < this.#chunks.length && performance.now() < pauseAt) {
        const chunk = this.#chunks[next++];
        if (chunk) this.#build(chunk);
      }
      if (next < this.#chunks.length) whenIdle(buildSlice);
    };
    whenIdle(buildSlice);
  }
}

const isAssistant = (entry: TreeEntry | undefined) => entry?.kind === 'assistant';

function resultsByCallId(branch: readonly TreeEntry[]): Map<string, TreeEntry> {
  const results = branch.filter(({ kind }) => kind === 'toolResult');
  return new Map(results.map((entry) => [asText(entry.message['toolCallId']), entry]));
}

const callIdsOf = ({ kind, message }: TreeEntry): string[] =>
  kind === 'assistant'
    ? asObjects(message['content']).flatMap((block) => (block['type'] === 'toolCall' ? [asText(block['id'])] : []))
    : [];

/** Estimated height in pixels before an entry is built. */
function estimateHeight({ kind, message }: TreeEntry): number {
  if (kind === 'user') return 110;
  return kind === 'assistant' ? 90 + asObjects(message['content']).length * 90 : 48;
}

/** Not every browser has `requestIdleCallback`. */
function whenIdle(work: () => void): void {
  if ('requestIdleCallback' in window) requestIdleCallback(work, { timeout: 500 });
  else setTimeout(work, 30);
}

/** Expands all clipped texts synchronously, for printing and searching. */
export function showAllText(container: ParentNode): void {
  const debounce = options.debounceRendering;
  options.debounceRendering = (draw) => draw();
  for (const more of container.querySelectorAll<HTMLButtonElement>('button.unclip')) more.click();
  if (debounce) options.debounceRendering = debounce;
  else delete options.debounceRendering;
}
