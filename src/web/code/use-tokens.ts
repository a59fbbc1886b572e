import { useMemo } from 'preact/hooks';
import { IncrementalHighlighter } from './incremental-highlighter.ts';
import { currentHighlighter } from './load-highlighter.ts';
import type { SourceCode, CodeToken } from './token.ts';

/** Returns code as tokens, coloured once the grammars are loaded. Finished pieces of growing code are not tokenised again. */
export function useTokens({ text, language, isOpen }: SourceCode): readonly (readonly CodeToken[])[] {
  const highlighter = language === '' ? undefined : currentHighlighter();
  const tokenizer = useMemo(() => new IncrementalHighlighter(language, highlighter), [language, highlighter]);
  return useMemo(() => tokenizer.read(text, { isOpen }), [tokenizer, text, isOpen]);
}
