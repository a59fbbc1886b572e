import { type ReadonlySignal, signal } from '@preact/signals';
import { type Anchor, firstBelow, pieceAt, survivingAnchor } from './anchor.ts';
import { type Keyed, MeasuredRows } from './measured-rows.ts';
import { onScrollUpIntent } from './scroll-intent.ts';

/** The drawn rows; `end` is exclusive. */
export interface DrawnRange {
  readonly first: number;
  readonly end: number;
}

/** The elements of the list. */
export interface ListParts {
  readonly scroller: HTMLElement;
  /** Spacers for the rows that are not drawn. */
  readonly above: HTMLElement;
  readonly below: HTMLElement;
}

interface ListWindowOptions<R> {
  // Estimates the height of a row that was never drawn.
  readonly estimate: (row: R) => number;
  // Called when the first row comes near.
  readonly onNearStart: () => void;
}

// Pixels drawn beyond the viewport on each side.
const MARGIN = 1000;

// A distance in pixels that counts as being there.
const NEAR_END = 24;
const NEAR_START = 1500;

// Events by which a user scrolls or moves on.
const INPUT_EVENTS = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;

// Scrolling has ended after this time without a movement.
const SCROLL_IDLE_MS = 150;

/**
 * Decides which rows are drawn and keeps the position of the reader: at the end, which is followed, or at a row, which
 * stays fixed on the screen whatever changes above it.
 */
export class ListWindow<R extends Keyed> {
  readonly #onNearStart: () => void;
  readonly #measured: MeasuredRows<R>;
  readonly #changes = signal(0);
  /** Set near the end by `#onScroll` and by `toEnd`; cleared by `toRow`, `toStart` and a user who scrolls up, or starts to. */
  readonly #isFollowing = signal(true);
  readonly #isEndHidden = signal(false);
  readonly #observer = new ResizeObserver((entries) => this.#onResize(entries));
  #parts: ListParts | undefined;
  #range: DrawnRange = { first: 0, end: 0 };
  #anchor: Anchor | undefined;
  /** Set until the change that a row is kept in place for is drawn. */
  #isKeeping = false;
  /** Whether a jump to an end was the last input: scroll events are then leftovers of an earlier animation. */
  #isJumping = false;
  /** The last scroll position. */
  #top = 0;
  /**
   * The error of the spacer above. Setting the scroll position while the user scrolls would stop or stutter the
   * movement, so the spacer absorbs the difference until scrolling ends.
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

  /** Whether the reader is at the end, and new rows scroll into view. */
  get isFollowing(): ReadonlySignal<boolean> {
    return this.#isFollowing;
  }

  get isEndHidden(): ReadonlySignal<boolean> {
    return this.#isEndHidden;
  }

  /** The key of the first visible row; undefined at the end. */
  get topKey(): number | undefined {
    return this.#isFollowing.peek() ? undefined : this.#anchor?.key;
  }

  get scroller(): HTMLElement | undefined {
    return this.#parts?.scroller;
  }

  elementOf(key: number | undefined): HTMLElement | undefined {
    return key === undefined ? undefined : this.#measured.elementOf(key);
  }

  /** Sets the rows and returns the range to draw. */
  setRows(rows: readonly R[]): DrawnRange {
    const before = this.#measured.rows;
    if (rows === before) return this.#range;
    this.#measured.setRows(rows);
    this.#anchor = this.#anchor && survivingAnchor(this.#anchor, before, (key) => this.#measured.indexOf(key));
    this.#range = this.#rangeAround(MARGIN);
    return this.#range;
  }

  /** Observes the elements of the list; returns a function that stops this. */
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
    const stopIntents = onScrollUpIntent(scroller, () => this.#unfollow());
    this.#observer.observe(scroller);
    this.layout();
    return () => {
      stopIntents();
      controller.abort();
      this.#observer.disconnect();
      clearTimeout(this.#idleTimer);
      this.#idleTimer = undefined;
      cancelAnimationFrame(this.#coverFrame ?? 0);
      this.#coverFrame = undefined;
      this.#parts = undefined;
    };
  }

  /** Registers the element of a drawn row; returns a function that removes it. */
  mount(key: number, element: HTMLElement): () => void {
    this.#measured.mount(key, element);
    this.#observer.observe(element);
    return () => {
      this.#observer.unobserve(element);
      this.#measured.unmount(key);
    };
  }

  /** Measures what was drawn and restores the position of the reader. */
  layout(): void {
    if (!this.#parts) return;
    this.#measured.measureNew();
    this.#position();
    // Every row around the reader may have been replaced.
    if (!this.#anchor && !this.#isFollowing.peek()) this.#updateAnchor();
    if (this.#isKeeping && this.#distanceFromEnd() <= 1) this.#follow();
    this.#isKeeping = false;
    this.#drawMissing();
  }

  /** Scrolls to the end and follows it. */
  toEnd(): void {
    this.#follow();
    this.#isJumping = true;
    this.#redraw();
  }

  /** Scrolls a row to a third of the viewport. */
  toRow(key: number): void {
    if (this.#measured.indexOf(key) === undefined) return;
    this.#unfollow();
    this.#anchor = { key, top: this.#viewHeight / 3 };
    this.#redraw();
  }

  /** Keeps a row where it is on the screen while its content changes, also at the end. */
  keepInPlace(key: number): void {
    const row = this.#measured.elementOf(key);
    if (!row || !this.#parts) return;
    this.#unfollow();
    this.#isKeeping = true;
    this.#anchor = { key, top: row.getBoundingClientRect().top - this.#parts.scroller.getBoundingClientRect().top };
  }

  /** Whether the list does not follow the end, and one of these rows is visible. */
  isInSight(keys: readonly number[]): boolean {
    if (this.#isFollowing.peek() || !this.#parts) return false;
    const sight = this.#parts.scroller.getBoundingClientRect();
    return keys.some((key) => {
      const row = this.#measured.elementOf(key)?.getBoundingClientRect();
      return row !== undefined && row.bottom > sight.top && row.top < sight.bottom;
    });
  }

  toStart(): void {
    const [first] = this.#measured.rows;
    if (!first) return;
    this.#unfollow();
    this.#anchor = { key: first.key, top: this.#parts?.above.offsetTop ?? 0 };
    this.#isJumping = true;
    this.#redraw();
  }

  #unfollow(): void {
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

  /** The offset of the viewport from the top of the first row. */
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

  /** Redraws when too few rows are drawn around the viewport. */
  #drawMissing(): void {
    const { first, end } = this.#rangeAround(MARGIN / 2);
    if (first < this.#range.first || end > this.#range.end) this.#redraw();
    this.reportNearStart();
  }

  /** Calls `onNearStart` again if the first row is near. */
  reportNearStart(): void {
    if (this.#parts && this.#viewTop() < NEAR_START) this.#onNearStart();
  }

  /** Runs before the new sizes are painted. */
  #onResize(entries: readonly ResizeObserverEntry[]): void {
    this.#measured.onResize(entries);
    this.#position();
    // Rows drawn from here would be measured too late.
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
    // The list may have reached one of its ends.
    if (Math.abs(this.#top - target) > 1) this.#updateAnchor();
  }

  /** The distance that the anchor has moved down. */
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
    // The event of an own scroll.
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
    // At the top the user cannot scroll further, and rows above would be out of reach.
    if (this.#top <= 0 && this.#spacerError !== 0) this.#onScrollIdle();
  }

  #onScrollIdle(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = undefined;
    this.#spacerError = 0;
    this.#position();
  }

  /** Sets the anchor to the first visible row. */
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
    // The user scrolled so far that nothing is drawn there.
    const offset = scroller.scrollTop - above.offsetTop - this.#spacerError;
    const index = heights.indexAt(offset);
    const target = rows[index];
    this.#anchor = target && { key: target.key, top: heights.offsetOf(index) - offset };
  }
}
