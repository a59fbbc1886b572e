import { button, element } from '../element.ts';
import { Conversation } from './conversation.ts';
import { Outline } from './outline.ts';
import { Search } from './search.ts';
import { type Entry, readSession, type Session, tipOf } from './session/session.ts';
import { type Filter, passes, rowsOf } from './session/tree-rows.ts';
import { sessionHeader, titleOfSession } from './session-header.ts';
import { Sidebar } from './sidebar.ts';
import { themeButton } from './theme.ts';

/** Reads the session out of the page and shows it. */
async function start(): Promise<void> {
  const data = document.querySelector('script[type="application/jsonl"]');
  const text = data?.textContent ?? '';
  data?.remove();
  new Page(await readSession(text)).open();
}

class Page {
  readonly #session: Session;
  readonly #roots: readonly Entry[];
  readonly #place = element('div', { class: 'conversation' });
  readonly #conversation: Conversation;
  readonly #search: Search;
  readonly #outline: Outline;
  readonly #sidebar: Sidebar;
  #filter: Filter = 'default';
  #isMarking = false;
  #isFollowing = false;

  constructor(session: Session) {
    this.#session = session;
    this.#roots = session.entries.filter(({ parent }) => parent === undefined);
    this.#conversation = new Conversation(session, this.#place, () => this.#markSoon());
    this.#search = new Search(this.#conversation);
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
    document.title = titleOfSession(this.#session);
    const main = element(
      'main',
      { attributes: { id: 'main', tabindex: '-1' } },
      sessionHeader(this.#session),
      this.#place,
    );
    document.body.replaceChildren(
      element(
        'a',
        { class: 'skip', attributes: { href: '#main' }, onClick: (event) => skipTo(main, event) },
        'To the conversation',
      ),
      this.#toolbar(),
      this.#sidebar.place,
      main,
    );
    if (!this.#goToHash()) this.#show(this.#session.leaf);
    addEventListener('hashchange', () => this.#goToHash());
    addEventListener('scroll', () => this.#followSoon(), { passive: true });
    addEventListener('keydown', (event) => this.#key(event));
    this.#printWhole();
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
        fold = fold ? undefined : this.#conversation.unfoldAll();
        unfold.textContent = fold ? 'Fold again' : 'Unfold all';
      },
    });
    return element('div', { class: 'toolbar' }, menu, element('span', { class: 'space' }), unfold, themeButton());
  }

  #show(leaf: Entry | undefined): void {
    this.#conversation.show(leaf);
    this.#outline.branch = this.#conversation.branch;
    this.#search.refresh();
    this.#drawOutline();
    this.#tell();
  }

  /** Goes to the entry that the address names, on whichever branch it is. */
  #goToHash(): boolean {
    const entry = this.#session.byId.get(hash());
    if (!entry) return false;
    if (!this.#conversation.branch.includes(entry)) this.#show(tipOf(entry));
    this.#goTo(entry);
    document.body.classList.remove('with-sidebar');
    return true;
  }

  /** What shows nothing itself is where the next entry that does is. */
  #goTo(entry: Entry): void {
    const { branch } = this.#conversation;
    let place: HTMLElement | undefined;
    for (let at = branch.indexOf(entry); at < branch.length && !place; at++) {
      place = this.#conversation.placeOf(branch[at] ?? entry);
    }
    if (place) this.#bring(place);
    this.#outline.current = entry;
  }

  #bring(place: HTMLElement): void {
    // What lies between is built on the way, and then is of another height than was guessed.
    place.scrollIntoView({ block: 'start' });
    requestAnimationFrame(() => place.scrollIntoView({ block: 'start' }));
    for (const other of document.querySelectorAll('.aimed')) other.classList.remove('aimed');
    place.classList.add('aimed');
  }

  #find(text: string): void {
    this.#search.find(text);
    this.#drawOutline();
    this.#tell();
  }

  #step(by: 1 | -1): void {
    const place = this.#search.step(by);
    if (place) this.#bring(place);
    this.#tell();
  }

  #tell(): void {
    const { at, of } = this.#search.position;
    this.#sidebar.tell(this.#search.isActive ? (of === 0 ? 'None here' : `${at || '–'} of ${of}`) : '');
  }

  #drawOutline(): void {
    const isIn = (entry: Entry) =>
      passes(entry, this.#filter) && (!this.#search.isActive || this.#search.matches(entry));
    this.#outline.show(rowsOf(this.#roots, isIn));
  }

  #markSoon(): void {
    if (this.#isMarking || !this.#search.isActive) return;
    this.#isMarking = true;
    requestAnimationFrame(() => {
      this.#isMarking = false;
      this.#search.mark();
    });
  }

  /** The outline follows what is being read. */
  #followSoon(): void {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    requestAnimationFrame(() => {
      this.#isFollowing = false;
      const { left, width } = this.#place.getBoundingClientRect();
      const seen = document.elementFromPoint(left + width / 2, 90)?.closest<HTMLElement>('[data-row]');
      const entry = seen && this.#session.entries[Number(seen.dataset['row'])];
      if (entry) this.#outline.current = entry;
    });
  }

  #key(event: KeyboardEvent): void {
    const isTyping = event.target instanceof HTMLElement && event.target.matches('input, select, textarea');
    if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      document.body.classList.add('with-sidebar');
      this.#sidebar.focus();
    }
    if (event.key === 'Escape') document.body.classList.remove('with-sidebar');
  }

  #printWhole(): void {
    let fold = () => {};
    addEventListener('beforeprint', () => {
      fold = this.#conversation.unfoldAll();
    });
    addEventListener('afterprint', () => fold());
  }
}

function hash(): string {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return '';
  }
}

/** The address stays that of the entry which is being read. */
function skipTo(main: HTMLElement, event: MouseEvent): void {
  event.preventDefault();
  main.focus();
}

void start();
