import { PlainText } from '../code/plain-text.tsx';
import { type Fields, textOf } from '../fields.ts';
import { Markdown } from '../markdown/markdown.tsx';
import { counted, oneLine } from '../words.ts';
import { Folded } from './folded.tsx';

/** What the model thought, folded. While it thinks, the line it is at. */
export function Thinking({ block, isGrowing }: { readonly block: Fields; readonly isGrowing: boolean }) {
  const text = textOf(block['thinking']);
  if (text.trim() === '' && !isGrowing)
    return block['redacted'] === true ? <p class="note">Thought, redacted</p> : null;
  const words = unmarked(isGrowing ? lastLine(text) : text).trim();
  const glimpse = `${isGrowing ? '' : `${counted(words.split(/\s+/).length, 'word')} · `}${oneLine(words, 90)}`;
  const head = (
    <>
      {isGrowing ? <span class="at-work">Thinking</span> : 'Thinking'}
      <span class="note">
        {' '}
        <PlainText text={glimpse} />
      </span>
    </>
  );
  return (
    <Folded kind="thinking" head={head}>
      <Markdown text={text} isStreaming={isGrowing} />
    </Folded>
  );
}

const lastLine = (text: string) => text.trimEnd().slice(-400).split('\n').at(-1) ?? '';

/** Words without what makes them bold, code or a heading. */
const unmarked = (text: string) => text.replaceAll(/(?<!\w)\*\*|\*\*(?!\w)|`+|^#+ /gm, '');
