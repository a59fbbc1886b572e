import type { ComponentChildren } from 'preact';
import { PlainText } from '../code/plain-text.tsx';
import { countLines, formatCount } from '../format.ts';
import { initialCount } from './initial-count.ts';
import { useViewState } from './view-state.tsx';

interface ClippedProps {
  readonly text: string;
  readonly lines: number;
  readonly kind?: string | undefined;
  // Renders the text; as plain text by default.
  readonly show?: ((text: string) => ComponentChildren) | undefined;
}

const MAX_CLIPPED_TEXT = 12_000;

/** A long text that is clipped until the user expands it. */
export function Clipped({ text, lines, kind = '', show = plainText }: ClippedProps) {
  const [showsAll, showAll] = useShowAll();
  const part = showsAll ? text : beginningOf(text, lines);
  return (
    <>
      <ScrollablePre kind={kind}>{show(part)}</ScrollablePre>
      {part !== text && <ShowAll size={sizeText(text, part)} onClick={showAll} />}
    </>
  );
}

/** The end of a long text, in a box of limited height. */
export function Tail({ text, lines, kind = '', all }: Omit<ClippedProps, 'show'> & Pick<ShowAllProps, 'all'>) {
  const [showsAll, showAll] = useShowAll();
  const part = showsAll ? text : endOf(text, lines);
  return (
    <>
      {part !== text && <ShowAll all={all} size={sizeText(text, part)} onClick={showAll} />}
      <div class={showsAll ? '' : 'tail'}>
        <ScrollablePre kind={kind}>{plainText(part)}</ScrollablePre>
      </div>
    </>
  );
}

interface ScrollableProps {
  readonly kind?: string | undefined;
  readonly children: ComponentChildren;
}

/** Preformatted text that can be scrolled with keys. */
export const ScrollablePre = ({ kind = '', children }: ScrollableProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard.
  <pre class={kind} tabIndex={0}>
    {children}
  </pre>
);

/** Whether the user expanded a clipped text, and a function that does so. */
export function useShowAll(name = 'whole'): readonly [boolean, () => void] {
  const [showsAll = false, setValue] = useViewState(name);
  return [showsAll, () => setValue(true)];
}

interface ShowAllProps {
  /** Stands before the size if the text itself is incomplete. */
  readonly all?: string | undefined;
  readonly size: string;
  readonly onClick: () => void;
}

/** A button that expands a clipped text. */
export const ShowAll = ({ all = 'all', size, onClick }: ShowAllProps) => (
  <button type="button" class="unclip" onClick={onClick}>
    Show {all} {size}
  </button>
);

const plainText = (text: string) => <PlainText text={text} />;

function beginningOf(text: string, lines: number): string {
  const allLines = text.split('\n');
  return allLines.slice(0, initialCount(allLines.length, lines)).join('\n').slice(0, MAX_CLIPPED_TEXT);
}

const endOf = (text: string, lines: number) => text.split('\n').slice(-lines).join('\n').slice(-MAX_CLIPPED_TEXT);

/** The size of the whole text: lines, or characters if only these are cut. */
function sizeText(text: string, part: string): string {
  const lines = countLines(text);
  return lines > countLines(part) ? formatCount(lines, 'line') : formatCount(text.length, 'character');
}
