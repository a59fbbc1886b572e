import { stateOf } from '../message/tools/tool-use.ts';
import { asObjects, asText, ownProperty, type Untyped } from '../untyped.ts';
import { element, visibleTextNodes } from './element.ts';
import { hashOf } from './entry-view.tsx';
import { entryTitle } from './session/entry-text.ts';
import type { ExportedSession, TreeEntry } from './session/exported-session.ts';
import type { OutlineRow } from './session/outline-rows.ts';

const ROW_HEIGHT = 30;
const MARGIN_ROWS = 12;
const MAX_INDENT_DEPTH = 10;

const signs: Readonly<Record<string, string>> = {
  user: '›',
  assistant: '·',
  toolResult: '⚙',
  bashExecution: '$',
  compaction: '≡',
  branch_summary: '↩',
};

/** The outline of the session; only rows in the viewport are in the DOM. */
export class Outline {
  readonly #session: ExportedSession;
  readonly #scroller: HTMLElement;
  readonly #list = element('ul', { class: 'rows' });
  readonly #calls: ReadonlyMap<string, Untyped>;
  #rows: readonly OutlineRow[] = [];
  #onBranch: ReadonlySet<TreeEntry> = new Set();
  #current: TreeEntry | undefined;

  constructor(session: ExportedSession, scroller: HTMLElement) {
    this.#session = session;
    this.#scroller = scroller;
    this.#calls = callsById(session.entries);
    scroller.append(this.#list);
    scroller.addEventListener('scroll', () => this.#draw(), { passive: true });
    scroller.addEventListener('keydown', (event) => this.#step(event));
    new ResizeObserver(() => this.#draw()).observe(scroller);
  }

  show(rows: readonly OutlineRow[]): void {
    this.#rows = rows;
    this.#list.style.height = `${rows.length * ROW_HEIGHT}px`;
    this.#draw();
  }

  set branch(entries: readonly TreeEntry[]) {
    this.#onBranch = new Set(entries);
    this.#draw();
  }

  /** Marks the current entry and scrolls it into view. */
  set current(entry: TreeEntry | undefined) {
    if (this.#current === entry) return;
    this.#current = entry;
    const index = this.#rows.findIndex((row) => row.entry === entry);
    const { scrollTop, clientHeight } = this.#scroller;
    const top = index * ROW_HEIGHT;
    if (index !== -1 && (top < scrollTop || top + ROW_HEIGHT > scrollTop + clientHeight)) {
      this.#scroller.scrollTop = top - clientHeight / 2;
    }
    this.#draw();
  }

  #draw(): void {
    const { scrollTop, clientHeight } = this.#scroller;
    const from = Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - MARGIN_ROWS);
    const to = Math.min(this.#rows.length, Math.ceil((scrollTop + clientHeight) / ROW_HEIGHT) + MARGIN_ROWS);
    const focused = this.#list.contains(document.activeElement) ? this.#indexOf(document.activeElement) : undefined;
    this.#list.replaceChildren(...this.#rows.slice(from, to).map((row, index) => this.#row(row, from + index)));
    if (focused !== undefined) this.#linkAt(focused)?.focus({ preventScroll: true });
  }

  #row({ entry, depth }: OutlineRow, index: number): HTMLElement {
    const label = this.#session.labels.get(entry.id);
    const sign = ownProperty(signs, entry.kind) ?? '◦';
    const isError = stateOf({ result: entry.message }) === 'failed' || entry.message['stopReason'] === 'error';
    const classes = [
      entry.kind === 'user' && 'by-user',
      !this.#onBranch.has(entry) && 'off-branch',
      isError && 'failed',
    ];
    const link = element(
      'a',
      {
        class: classes.filter(Boolean).join(' '),
        attributes: { href: hashOf(entry), 'aria-current': entry === this.#current ? 'true' : undefined },
      },
      element('span', { class: 'sign', attributes: { 'aria-hidden': 'true' } }, sign),
      label !== undefined && element('span', { class: 'label' }, ...visibleTextNodes(label)),
      element('span', { class: 'title' }, ...visibleTextNodes(entryTitle(entry, (id) => this.#calls.get(id)))),
    );
    link.style.paddingInlineStart = `${10 + Math.min(depth, MAX_INDENT_DEPTH) * 12}px`;
    const item = element(
      'li',
      { attributes: { 'aria-setsize': String(this.#rows.length), 'aria-posinset': String(index + 1) } },
      link,
    );
    item.style.top = `${index * ROW_HEIGHT}px`;
    return item;
  }

  #step(event: KeyboardEvent): void {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const index = this.#indexOf(document.activeElement);
    if (by === undefined || index === undefined) return;
    event.preventDefault();
    const next = Math.min(Math.max(index + by, 0), this.#rows.length - 1);
    this.#linkAt(next)?.focus();
  }

  #indexOf(link: Element | null): number | undefined {
    const position = link?.closest('li')?.getAttribute('aria-posinset');
    return position ? Number(position) - 1 : undefined;
  }

  #linkAt(index: number): HTMLElement | null {
    return this.#list.querySelector<HTMLElement>(`li[aria-posinset="${index + 1}"] a`);
  }
}

function callsById(entries: readonly TreeEntry[]): Map<string, Untyped> {
  const responses = entries.filter(({ kind }) => kind === 'assistant');
  const calls = responses.flatMap(({ message }) =>
    asObjects(message['content']).filter(({ type }) => type === 'toolCall'),
  );
  return new Map(calls.map((call) => [asText(call['id']), call]));
}
