import type { ComponentChildren } from 'preact';
import { type TextPart, visibleParts } from './hidden-characters.ts';

/** Text with hidden and reordering characters shown as their code points. */
export const PlainText = ({ text }: { readonly text: string }) => <>{visibleNodes(text)}</>;

/** The same without a component, for many short texts. */
export function visibleNodes(text: string): ComponentChildren {
  const parts = visibleParts(text);
  return parts.every(({ isHidden }) => !isHidden) ? text : markedNodes(parts);
}

/** Parts of a text, with the names of hidden characters marked. */
export const markedNodes = (parts: readonly TextPart[]): ComponentChildren =>
  parts.map((part) => (part.isHidden ? <span class="hidden-character">{part.text}</span> : part.text));
