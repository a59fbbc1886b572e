import { signal } from '@preact/signals';
import type { Highlighter } from './token.ts';

const loadedHighlighter = signal<Highlighter | undefined>(undefined);
let isRequested = false;

/** The loaded highlighter; the first call starts loading it. */
export function currentHighlighter(): Highlighter | undefined {
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
