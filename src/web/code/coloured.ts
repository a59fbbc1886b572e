import { useMemo } from 'preact/hooks';
import { GrowingCode } from './growing-code.ts';
import { highlighter } from './highlighter.ts';
import type { Code, Token } from './token.ts';

/** The pieces of code, in their colours as soon as those are loaded. What is whole of code that grows is not read again. */
export function useColoured({ text, language, isOpen }: Code): readonly (readonly Token[])[] {
  const highlight = language === '' ? undefined : highlighter();
  const code = useMemo(() => new GrowingCode(language, highlight), [language, highlight]);
  return useMemo(() => code.read(text, { isOpen }), [code, text, isOpen]);
}
