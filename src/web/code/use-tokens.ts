import { signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { IncrementalHighlighter } from './incremental-highlighter.ts';
import type { CodeToken, Highlighter, SourceCode } from './token.ts';

/** Returns code as tokens, coloured once the grammars are loaded. Finished pieces of growing code are not tokenised again. */
export function useTokens({ text, language, isOpen }: SourceCode): readonly (readonly CodeToken[])[] {
  const highlighter = language === '' ? undefined : currentHighlighter();
  const tokenizer = useMemo(() => new IncrementalHighlighter(language, highlighter), [language, highlighter]);
  return useMemo(() => tokenizer.read(text, { isOpen }), [tokenizer, text, isOpen]);
}

const loadedHighlighter = signal<Highlighter | undefined>(undefined);
let isRequested = false;

/** The loaded highlighter; the first call starts loading it. */
function currentHighlighter(): Highlighter | undefined {
  if (!isRequested) void loadGrammars();
  return loadedHighlighter.value;
}

/** If loading fails, code stays in one colour and the next call tries again. */
async function loadGrammars(): Promise<void> {
  isRequested = true;
  try {
    const { highlight } = await import('./grammars.ts');
    loadedHighlighter.value = highlight;
  } catch {
    isRequested = false;
  }
}
