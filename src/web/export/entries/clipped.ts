import { plainText } from '../../code/plain-text.ts';
import { button, element } from '../../element.ts';
import { counted } from '../../words.ts';

interface Clip {
  /** Which end of a long text is shown at first. */
  readonly keep: 'head' | 'tail';
  readonly lines: number;
  /** Shows the text; as it is when nothing else is said. */
  readonly show?: ((text: string) => readonly (Node | string)[]) | undefined;
  readonly class?: string | undefined;
}

const MAX_CLIPPED = 12_000;

/** A long text of which only a part is shown until somebody wants it all. */
export function clipped(text: string, { keep, lines, show = plainText, class: name = '' }: Clip): HTMLElement {
  const body = element('pre', { class: name, attributes: { tabindex: '0' } });
  const part = partOf(text, keep, lines);
  if (part === text) {
    body.append(...show(text));
    return body;
  }
  body.append(...show(part));
  const more = button(`Show all ${sizeOf(text)}`, {
    class: 'unclip',
    onClick: () => {
      body.replaceChildren(...show(text));
      more.remove();
    },
  });
  return keep === 'tail' ? element('div', {}, more, body) : element('div', {}, body, more);
}

/** Shows all of every text in here. */
export function unclip(container: ParentNode): void {
  for (const more of container.querySelectorAll<HTMLButtonElement>('button.unclip')) more.click();
}

/** A few lines more are shown rather than hidden behind a button. */
function partOf(text: string, keep: 'head' | 'tail', lines: number): string {
  const all = text.split('\n');
  const some = all.length <= lines * 1.5 ? all : keep === 'head' ? all.slice(0, lines) : all.slice(-lines);
  const part = some.join('\n');
  if (part.length <= MAX_CLIPPED) return part;
  return keep === 'head' ? part.slice(0, MAX_CLIPPED) : part.slice(-MAX_CLIPPED);
}

function sizeOf(text: string): string {
  const lines = text.split('\n').length;
  return lines > 1 ? counted(lines, 'line') : counted(text.length, 'character');
}
