import { useMemo } from 'preact/hooks';
import { PlainText } from '../code/plain-text.tsx';
import { MarkdownReader } from './block/markdown-reader.ts';
import { Blocks } from './block-view.tsx';
import { directionOf } from './direction.ts';
import { DefinitionsContext } from './words.tsx';

/** A longer text is shown as it is. */
const MAX_LENGTH = 200_000;

interface MarkdownProps {
  readonly text: string;
  /** Whether more is to come: what is whole already is not read again, and what is not decided yet is not shown. */
  readonly isStreaming?: boolean | undefined;
}

/** A text of markdown. Whatever it holds, it can only become text, lists, tables, code and links. */
export const Markdown = ({ text, isStreaming = false }: MarkdownProps) =>
  text.length > MAX_LENGTH ? (
    <pre class="plain">
      <PlainText text={text} />
    </pre>
  ) : (
    <Read text={text} isStreaming={isStreaming} />
  );

function Read({ text, isStreaming }: { readonly text: string; readonly isStreaming: boolean }) {
  const reader = useMemo(() => new MarkdownReader(), []);
  const { blocks, definitions } = useMemo(() => reader.read(text, { isStreaming }), [reader, text, isStreaming]);
  return (
    <DefinitionsContext.Provider value={definitions}>
      <div class="markdown" dir={directionOf(text)}>
        <Blocks blocks={blocks} />
      </div>
    </DefinitionsContext.Provider>
  );
}
