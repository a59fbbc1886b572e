import { type ReadonlySignal, signal } from '@preact/signals';
import { type Anchor, firstBelow, pieceAt, survivingAnchor } from './anchor.ts';
import { type Keyed, MeasuredRows } from './measured-rows.ts';

/** The rows that are drawn: from one up to another, without that one. */
export interface DrawnRange {
  readonly first: number;
  readonly end: number;
}

/** Where rows are drawn. */
export interface ListParts {
  readonly scroller: HTMLElement;
  /** Takes the room of the rows above those that are drawn, and below. */
  readonly above: HTMLElement;
  readonly below: HTMLElement;
}

interface ListWindowOptions<R> {
  /** How high a row may be that nobody has drawn yet. */
  readonly estimate: (row: R) => number;
  /** The reader comes near the first row. */
  readonly onNearStart: () => void;
}

/** How much is drawn beyond what is in sight, on each side, in pixels. */
const MARGIN = 1000;

/** So near to the end counts as there. */
const NEAR_END = 24;
const NEAR_START = 1500;

/** What a reader moves the list by, or goes elsewhere. */
const INPUT_EVENTS = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;

/** After so long without a movement the reader has come to rest. */
const SCROLL_IDLE_MS = 150;

/**
 * Which of many rows are drawn, and where the reader is among them: at the end, which is followed, or at some row, which
 * does not move on the screen whatever becomes higher, lower or is put above it.
 */
export class ListWindow<R extends Keyed> {
  readonly #onNearStart: () => void;
  readonly #measured: MeasuredRows<R>;
  readonly #changes = signal(0);
  readonly #isFollowing = signal(true);
  readonly #isEndHidden = signal(false);
  readonly #observer = new ResizeObserver((entries) => this.#onResize(entries));
  #parts: ListParts | undefined;
  #range: DrawnRange = { first: 0, end: 0 };
  #anchor: Anchor | undefined;
  /** Whether the reader asked for one of the ends and nothing since: what moves now is an animation that began before. */
  #isJumping = false;
  /** Where the list was scrolled to last. */
  #top = 0;
  /**
   * By how much the room above is wrong. A list that is moved while somebody scrolls it would stop or stutter; the room
   * above is changed instead, and put right when the reader rests.
   */
  #spacerError = 0;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #coverFrame: number | undefined;

  constructor({ estimate, onNearStart }: ListWindowOptions<R>) {
    this.#measured = new MeasuredRows(estimate);
    this.#onNearStart = onNearStart;
  }

  /** Grows whenever other rows have to be drawn. */
  get changes(): ReadonlySignal<number> {
    return this.#changes;
  }

  /** Whether the reader is at the end, and stays there. */
  get isFollowing(): ReadonlySignal<boolean> {
    return this.#isFollowing;
  }

  /** Whether the end is out of sight. */
  get isEndHidden(): ReadonlySignal<boolean> {
    return this.#isEndHidden;
  }

  /** The first row in sight; undefined at the end. */
  get topKey(): number | undefined {
    return this.#isFollowing.peek() ? undefined : this.#anchor?.key;
  }

  /** What scrolls. */
  get scroller(): HTMLElement | undefined {
    return this.#parts?.scroller;
  }

  /** Where a row is drawn, if it is. */
  elementOf(key: number | undefined): HTMLElement | undefined {
    return key === undefined ? undefined : this.#measured.elementOf(key);
  }

  /** Takes the rows as they are now, and answers which of them to draw. */
  setRows(rows: readonly R[]): DrawnRange {
    const before = this.#measured.rows;
    if (rows === before) return this.#range;
    this.#measured.setRows(rows);
    this.#anchor = this.#anchor && survivingAnchor(this.#anchor, before, (key) => this.#measured.indexOf(key));
    this.#range = this.#rangeAround(MARGIN);
    return this.#range;
  }

  /** Watches the place where rows are drawn; the returned function stops that. */
  attach(parts: ListParts): () => void {
    const { scroller } = parts;
    this.#parts = parts;
    const onScroll = () => this.#onScroll();
    const controller = new AbortController();
    const options = { passive: true, signal: controller.signal };
    const onInput = () => {
      this.#isJumping = false;
    };
    scroller.addEventListener('scroll', onScroll, options);
    for (const input of INPUT_EVENTS) document.addEventListener(input, onInput, { ...options, capture: true });
    this.#observer.observe(scroller);
    this.layout();
    return () => {
      controller.abort();
      this.#observer.disconnect();
      clearTimeout(this.#idleTimer);
      this.#idleTimer = undefined;
      cancelAnimationFrame(this.#coverFrame ?? 0);
      this.#coverFrame = undefined;
      this.#parts = undefined;
    };
  }

  /** A row was drawn; the returned function says that it is gone. */
  mount(key: number, element: HTMLElement): () => void {
    this.#measured.mount(key, element);
    this.#observer.observe(element);
    return () => {
      this.#observer.unobserve(element);
      this.#measured.unmount(key);
    };
  }

  /** Everything was drawn: puts the list where the reader is. */
  layout(): void {
    if (!this.#parts) return;
    this.#measured.measureNew();
    this.#position();
    this.#drawMissing();
  }

  /** Goes to the end, and stays there. */
  toEnd(): void {
    this.#follow();
    this.#isJumping = true;
    this.#redraw();
  }

  /** Goes to a row; it is a third of the list below its top. */
  toRow(key: number): void {
    if (this.#measured.indexOf(key) === undefined) return;
    this.unfollow();
    this.#anchor = { key, top: this.#viewHeight / 3 };
    this.#redraw();
  }

  /** Goes to the first row. */
  toStart(): void {
    const [first] = this.#measured.rows;
    if (!first) return;
    this.unfollow();
    this.#anchor = { key: first.key, top: this.#parts?.above.offsetTop ?? 0 };
    this.#isJumping = true;
    this.#redraw();
  }

  /** Follows the end no more. */
  unfollow(): void {
    if (!this.#isFollowing.peek()) return;
    this.#isFollowing.value = false;
    this.#updateAnchor();
  }

  get #viewHeight(): number {
    return this.#parts?.scroller.clientHeight ?? innerHeight;
  }

  #follow(): void {
    this.#isFollowing.value = true;
    this.#isEndHidden.value = false;
    this.#anchor = undefined;
    this.#spacerError = 0;
  }

  /** How far the top of what is in sight is below the top of the first row. */
  #viewTop(): number {
    const { heights } = this.#measured;
    const index = this.#anchor && this.#measured.indexOf(this.#anchor.key);
    if (!this.#anchor || index === undefined) return heights.total - this.#viewHeight;
    return heights.offsetOf(index) - this.#anchor.top;
  }

  #rangeAround(margin: number): DrawnRange {
    const { rows, heights } = this.#measured;
    if (rows.length === 0) return { first: 0, end: 0 };
    const top = this.#viewTop();
    return { first: heights.indexAt(top - margin), end: heights.indexAt(top + this.#viewHeight + margin) + 1 };
  }

  #redraw(): void {
    this.#range = this.#rangeAround(MARGIN);
    this.#changes.value++;
  }

  /** Draws other rows as soon as too few are drawn around what is in sight. */
  #drawMissing(): void {
    const { first, end } = this.#rangeAround(MARGIN / 2);
    if (first < this.#range.first || end > this.#range.end) this.#redraw();
    if (this.#viewTop() < NEAR_START) this.#onNearStart();
  }

  /** What is told here is not on the screen yet. */
  #onResize(entries: readonly ResizeObserverEntry[]): void {
    this.#measured.onResize(entries);
    this.#position();
    // Rows that are drawn from here would be measured too late.
    this.#coverFrame ??= requestAnimationFrame(() => {
      this.#coverFrame = undefined;
      this.#drawMissing();
    });
  }

  #position(): void {
    if (!this.#parts) return;
    const { heights } = this.#measured;
    const { first, end } = this.#range;
    if (first === 0) this.#spacerError = 0;
    this.#parts.above.style.height = `${heights.offsetOf(first) + this.#spacerError}px`;
    this.#parts.below.style.height = `${heights.total - heights.offsetOf(end)}px`;
    if (this.#isFollowing.peek()) this.#scrollTo(Infinity);
    else this.#keepAnchor(this.#parts);
    this.#isEndHidden.value = !this.#isFollowing.peek() && this.#distanceFromEnd() > NEAR_END;
  }

  #keepAnchor({ above, scroller }: ListParts): void {
    const drift = this.#drift(scroller);
    if (Math.abs(drift) < 0.5) return;
    const { first } = this.#range;
    const height = this.#measured.heights.offsetOf(first) + this.#spacerError - drift;
    if (this.#idleTimer !== undefined && first > 0 && height >= 0) {
      this.#spacerError -= drift;
      above.style.height = `${height}px`;
      return;
    }
    const target = scroller.scrollTop + drift;
    this.#scrollTo(target);
    // There is an end on either side.
    if (Math.abs(this.#top - target) > 1) this.#updateAnchor();
  }

  /** How much further down the anchor is than it was. */
  #drift(scroller: HTMLElement): number {
    if (!this.#anchor) return 0;
    const line = scroller.getBoundingClientRect().top;
    const { key, top, piece } = this.#anchor;
    if (piece?.element.isConnected) return piece.element.getBoundingClientRect().top - line - piece.top;
    const row = this.#measured.elementOf(key);
    return row ? row.getBoundingClientRect().top - line - top : 0;
  }

  #scrollTo(top: number): void {
    if (!this.#parts) return;
    const { scroller } = this.#parts;
    scroller.scrollTop = Math.min(top, scroller.scrollHeight);
    this.#top = scroller.scrollTop;
  }

  #distanceFromEnd(): number {
    if (!this.#parts) return 0;
    const { scrollHeight, clientHeight, scrollTop } = this.#parts.scroller;
    return scrollHeight - clientHeight - scrollTop;
  }

  #onScroll(): void {
    if (!this.#parts) return;
    const moved = this.#parts.scroller.scrollTop - this.#top;
    // This is where it was put.
    if (moved === 0) return;
    this.#top += moved;
    if (this.#isJumping) {
      this.#onScrollIdle();
      return;
    }
    const fromEnd = this.#distanceFromEnd();
    if (moved > 0 && fromEnd <= NEAR_END) this.#follow();
    else if (moved < 0 && fromEnd > 1) this.#isFollowing.value = false;
    this.#isEndHidden.value = !this.#isFollowing.peek() && fromEnd > NEAR_END;
    if (this.#isFollowing.peek()) return;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => this.#onScrollIdle(), SCROLL_IDLE_MS);
    this.#updateAnchor();
    this.#drawMissing();
    // Here nobody goes on, and what is above would be out of reach.
    if (this.#top <= 0 && this.#spacerError !== 0) this.#onScrollIdle();
  }

  #onScrollIdle(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = undefined;
    this.#spacerError = 0;
    this.#position();
  }

  /** Finds what the reader looks at now. */
  #updateAnchor(): void {
    if (!this.#parts) return;
    const { scroller, above } = this.#parts;
    const { rows, heights } = this.#measured;
    const line = scroller.getBoundingClientRect().top;
    const drawn = rows.slice(this.#range.first, this.#range.end);
    const row = firstBelow(
      line,
      drawn.flatMap(({ key }) => this.#measured.elementOf(key) ?? []),
    );
    const key = row && this.#measured.keyOf(row);
    const top = row ? row.getBoundingClientRect().top - line : 0;
    const isDrawn = top <= 0 || this.#range.first === 0;
    if (row && key !== undefined && isDrawn) {
      const element = pieceAt(line, row);
      this.#anchor = { key, top, piece: { element, top: element.getBoundingClientRect().top - line } };
      return;
    }
    // Somebody went so far that nothing is drawn there.
    const offset = scroller.scrollTop - above.offsetTop - this.#spacerError;
    const index = heights.indexAt(offset);
    const target = rows[index];
    this.#anchor = target && { key: target.key, top: heights.offsetOf(index) - offset };
  }
}
