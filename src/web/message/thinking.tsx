import { PlainText } from '../code/plain-text.tsx';
import { formatCount, oneLine } from '../format.ts';
import { Markdown } from '../markdown/markdown.tsx';
import { asText, type Untyped } from '../untyped.ts';
import { Folded } from './folded.tsx';

/** A folded thinking block; while it streams, its head shows the last line. */
export function Thinking({ block, isGrowing }: { readonly block: Untyped; readonly isGrowing: boolean }) {
  const text = asText(block['thinking']);
  if (text.trim() === '' && !isGrowing)
    return block['redacted'] === true ? <p class="note">Thought, redacted</p> : null;
  const words = withoutMarkup(isGrowing ? lastLine(text) : text).trim();
  const preview = `${isGrowing ? '' : `${formatCount(words.split(/\s+/).length, 'word')} · `}${oneLine(words, 90)}`;
  const head = (
    <>
      {isGrowing ? <span class="working">Thinking</span> : 'Thinking'}
      <span class="note when-folded">
        {' '}
        <PlainText text={preview} />
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

const withoutMarkup = (text: string) => text.replaceAll(/(?<!\w)\*\*|\*\*(?!\w)|`+|^#+ /gm, '');
