import { useMemo } from 'preact/hooks';
import { PlainText } from '../code/plain-text.tsx';
import { MarkdownReader } from './block/markdown-reader.ts';
import { Blocks } from './block-view.tsx';
import { DefinitionsContext } from './inline-view.tsx';

// A longer text is shown verbatim.
const MAX_MARKDOWN_CHARACTERS = 200_000;

interface MarkdownProps {
  readonly text: string;
  // More text may follow: complete lines are not parsed again, and ambiguous ones are held back.
  readonly isStreaming?: boolean | undefined;
}

/** Renders markdown as text, lists, tables, code and links only. */
export const Markdown = ({ text, isStreaming = false }: MarkdownProps) =>
  text.length > MAX_MARKDOWN_CHARACTERS ? (
    <pre class="plain">
      <PlainText text={text} />
    </pre>
  ) : (
    <ParsedMarkdown text={text} isStreaming={isStreaming} />
  );

function ParsedMarkdown({ text, isStreaming }: { readonly text: string; readonly isStreaming: boolean }) {
  const reader = useMemo(() => new MarkdownReader(), []);
  const { blocks, definitions } = useMemo(() => reader.read(text, { isStreaming }), [reader, text, isStreaming]);
  return (
    <DefinitionsContext.Provider value={definitions}>
      <div class="markdown" dir={textDirection(text)}>
        <Blocks blocks={blocks} />
      </div>
    </DefinitionsContext.Provider>
  );
}

// A first letter of Hebrew, Arabic or another right-to-left script, after tags and other characters.
const STARTS_RIGHT_TO_LEFT =
  /^(?:<[^<>]*>|[^<\p{L}])*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** The writing direction of a text by its beginning. `dir="auto"` would be recomputed for every streamed block. */
const textDirection = (text: string): 'rtl' | undefined =>
  STARTS_RIGHT_TO_LEFT.test(text.slice(0, 2000)) ? 'rtl' : undefined;
