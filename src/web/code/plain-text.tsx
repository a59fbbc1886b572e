import type { ComponentChildren } from 'preact';
import { type TextPart, visibleParts } from './hidden-characters.ts';

/** Text with hidden and reordering characters shown as their code points. */
export const PlainText = ({ text }: { readonly text: string }) => <>{visibleNodes(text)}</>;

/** The same without a component, for many short texts. */
export function visibleNodes(text: string, parts: readonly TextPart[] = visibleParts(text)): ComponentChildren {
  if (parts.every(({ isHidden }) => !isHidden)) return text;
  return parts.map((part) => (part.isHidden ? <span class="hidden-character">{part.text}</span> : part.text));
}
