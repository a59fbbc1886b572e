import { BranchView } from './branch-view.ts';
import { button, element } from './element.ts';
import { EntrySearch } from './entry-search.ts';
import { Outline } from './outline.ts';
import { type ExportedSession, newestLeaf, readSession, type TreeEntry } from './session/exported-session.ts';
import { type OutlineFilter, outlineRows, passesFilter } from './session/outline-rows.ts';
import { sessionHeader, sessionTitle } from './session-header.ts';
import { Sidebar } from './sidebar.ts';
import { themeButton } from './theme-button.ts';

/** Reads the session from the page and shows it. */
async function start(): Promise<void> {
  const data = document.querySelector('script[type="application/jsonl"]');
  const text = data?.textContent ?? '';
  data?.remove();
  new ExportPage(await readSession(text)).open();
}

class ExportPage {
  readonly #session: ExportedSession;
  readonly #roots: readonly TreeEntry[];
  readonly #container = element('div', { class: 'conversation' });
  readonly #branchView: BranchView;
  readonly #search: EntrySearch;
  readonly #outline: Outline;
  readonly #sidebar: Sidebar;
  #filter: OutlineFilter = 'default';
  #isHighlightPending = false;
  #isFollowPending = false;

  constructor(session: ExportedSession) {
    this.#session = session;
    this.#roots = session.entries.filter(({ parent }) => parent === undefined);
    this.#branchView = new BranchView(session, this.#container, () => this.#scheduleHighlight());
    this.#search = new EntrySearch(this.#branchView);
    this.#sidebar = new Sidebar({
      onSearch: (text) => this.#find(text),
      onStep: (by) => this.#step(by),
      onFilter: (filter) => {
        this.#filter = filter;
        this.#drawOutline();
      },
    });
    this.#outline = new Outline(session, this.#sidebar.scroller);
  }

  open(): void {
    document.title = sessionTitle(this.#session);
    const main = element(
      'main',
      { attributes: { id: 'main', tabindex: '-1' } },
      sessionHeader(this.#session),
      this.#container,
    );
    document.body.replaceChildren(
      element(
        'a',
        { class: 'skip', attributes: { href: '#main' }, onClick: (event) => skipTo(main, event) },
        'To the conversation',
      ),
      this.#toolbar(),
      this.#sidebar.node,
      main,
    );
    if (!this.#goToHash()) this.#show(this.#session.leaf);
    addEventListener('hashchange', () => this.#goToHash());
    addEventListener('scroll', () => this.#scheduleFollow(), { passive: true });
    addEventListener('keydown', (event) => this.#onKeyDown(event));
    this.#unfoldForPrint();
    document.documentElement.dataset['ready'] = '';
  }

  #toolbar(): HTMLElement {
    const menu = button('☰', {
      class: 'icon menu',
      name: 'Outline and search',
      onClick: () => document.body.classList.toggle('with-sidebar'),
    });
    let fold: (() => void) | undefined;
    const unfold = button('Unfold all', {
      class: 'unfold',
      onClick: () => {
        if (fold) fold();
        fold = fold ? undefined : this.#branchView.unfoldAll();
        unfold.textContent = fold ? 'Fold again' : 'Unfold all';
      },
    });
    return element('div', { class: 'toolbar' }, menu, element('span', { class: 'space' }), unfold, themeButton());
  }

  #show(leaf: TreeEntry | undefined): void {
    this.#branchView.show(leaf);
    this.#outline.branch = this.#branchView.branch;
    this.#search.refresh();
    this.#drawOutline();
    this.#showMatchCount();
  }

  /** Shows the entry that the URL fragment names, on any branch. */
  #goToHash(): boolean {
    const entry = this.#session.byId.get(decodedHash());
    if (!entry) return false;
    if (!this.#branchView.branch.includes(entry)) this.#show(newestLeaf(entry));
    this.#goTo(entry);
    document.body.classList.remove('with-sidebar');
    return true;
  }

  /** An invisible entry scrolls to the next visible one. */
  #goTo(entry: TreeEntry): void {
    const { branch } = this.#branchView;
    let node: HTMLElement | undefined;
    for (let at = branch.indexOf(entry); at < branch.length && !node; at++) {
      node = this.#branchView.nodeOf(branch[at] ?? entry);
    }
    if (node) this.#scrollTo(node);
    this.#outline.current = entry;
  }

  #scrollTo(node: HTMLElement): void {
    // Chunks on the way are built during the first scroll, which changes their height.
    node.scrollIntoView({ block: 'start' });
    requestAnimationFrame(() => node.scrollIntoView({ block: 'start' }));
    for (const other of document.querySelectorAll('.target')) other.classList.remove('target');
    node.classList.add('target');
  }

  #find(text: string): void {
    this.#search.find(text);
    this.#drawOutline();
    this.#showMatchCount();
  }

  #step(by: 1 | -1): void {
    const node = this.#search.step(by);
    if (node) this.#scrollTo(node);
    this.#showMatchCount();
  }

  #showMatchCount(): void {
    const { at, of } = this.#search.position;
    this.#sidebar.showCount(this.#search.isActive ? (of === 0 ? 'None here' : `${at || '–'} of ${of}`) : '');
  }

  #drawOutline(): void {
    const isIncluded = (entry: TreeEntry) =>
      passesFilter(entry, this.#filter) && (!this.#search.isActive || this.#search.matches(entry));
    this.#outline.show(outlineRows(this.#roots, isIncluded));
  }

  #scheduleHighlight(): void {
    if (this.#isHighlightPending || !this.#search.isActive) return;
    this.#isHighlightPending = true;
    requestAnimationFrame(() => {
      this.#isHighlightPending = false;
      this.#search.highlight();
    });
  }

  /** The outline marks the entry in the viewport. */
  #scheduleFollow(): void {
    if (this.#isFollowPending) return;
    this.#isFollowPending = true;
    requestAnimationFrame(() => {
      this.#isFollowPending = false;
      const { left, width } = this.#container.getBoundingClientRect();
      const visible = document.elementFromPoint(left + width / 2, 90)?.closest<HTMLElement>('[data-row]');
      const entry = visible && this.#session.entries[Number(visible.dataset['row'])];
      if (entry) this.#outline.current = entry;
    });
  }

  #onKeyDown(event: KeyboardEvent): void {
    const isTyping = event.target instanceof HTMLElement && event.target.matches('input, select, textarea');
    if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      document.body.classList.add('with-sidebar');
      this.#sidebar.focus();
    }
    if (event.key === 'Escape') document.body.classList.remove('with-sidebar');
  }

  #unfoldForPrint(): void {
    let fold = () => {};
    addEventListener('beforeprint', () => {
      fold = this.#branchView.unfoldAll();
    });
    addEventListener('afterprint', () => fold());
  }
}

function decodedHash(): string {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return '';
  }
}

/** The URL fragment stays that of the current entry. */
function skipTo(main: HTMLElement, event: MouseEvent): void {
  event.preventDefault();
  main.focus();
}

void start();
