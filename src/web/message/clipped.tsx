import type { ComponentChildren } from 'preact';
import { PlainText } from '../code/plain-text.tsx';
import { counted, linesIn } from '../words.ts';
import { atFirst } from './at-first.ts';
import { useChoice } from './choices.tsx';

interface ClippedProps {
  readonly text: string;
  readonly lines: number;
  readonly kind?: string | undefined;
  /** Shows the text; as it is when nothing else is said. */
  readonly show?: ((text: string) => ComponentChildren) | undefined;
}

const MAX_CLIPPED = 12_000;

/** A long text of which only the beginning is shown until somebody wants it all. */
export function Clipped({ text, lines, kind = '', show = asItIs }: ClippedProps) {
  const [isWhole, showAll] = useWhole();
  const part = isWhole ? text : beginningOf(text, lines);
  return (
    <>
      <Scrolled kind={kind}>{show(part)}</Scrolled>
      {part !== text && <ShowAll what={sizeOf(text, part)} onClick={showAll} />}
    </>
  );
}

/** The end of a long text, in a window that grows with it up to some lines and then stays as it is. */
export function Tail({ text, lines, kind = '', all }: Omit<ClippedProps, 'show'> & Pick<ShowAllProps, 'all'>) {
  const [isWhole, showAll] = useWhole();
  const part = isWhole ? text : endOf(text, lines);
  return (
    <>
      {part !== text && <ShowAll all={all} what={sizeOf(text, part)} onClick={showAll} />}
      <div class={isWhole ? '' : 'tail'}>
        <Scrolled kind={kind}>{asItIs(part)}</Scrolled>
      </div>
    </>
  );
}

interface ScrolledProps {
  readonly kind?: string | undefined;
  readonly children: ComponentChildren;
}

/** Lines that may be wider or higher than their place. */
export const Scrolled = ({ kind = '', children }: ScrolledProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled has to be reached with keys.
  <pre class={kind} tabIndex={0}>
    {children}
  </pre>
);

/** Whether somebody wants all of something that is cut, and what they do for that. */
export function useWhole(name = 'whole'): readonly [boolean, () => void] {
  const [isWhole = false, choose] = useChoice(name);
  return [isWhole, () => choose(true)];
}

interface ShowAllProps {
  /** What is said of those that are there, when they are not all. */
  readonly all?: string | undefined;
  readonly what: string;
  readonly onClick: () => void;
}

/** Shows the rest of something. */
export const ShowAll = ({ all = 'all', what, onClick }: ShowAllProps) => (
  <button type="button" class="unclip" onClick={onClick}>
    Show {all} {what}
  </button>
);

const asItIs = (text: string) => <PlainText text={text} />;

function beginningOf(text: string, lines: number): string {
  const all = text.split('\n');
  return all.slice(0, atFirst(all.length, lines)).join('\n').slice(0, MAX_CLIPPED);
}

const endOf = (text: string, lines: number) => text.split('\n').slice(-lines).join('\n').slice(-MAX_CLIPPED);

/** How much there is of what is missing in a part: lines, or letters where a piece of every line is there. */
function sizeOf(text: string, part: string): string {
  const lines = linesIn(text);
  return lines > linesIn(part) ? counted(lines, 'line') : counted(text.length, 'character');
}
