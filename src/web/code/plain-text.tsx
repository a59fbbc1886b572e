import type { ComponentChildren } from 'preact';
import { visibleParts } from './hidden-characters.ts';

/** A text of which every character is to be seen: those that would hide or reorder something by their number. */
export const PlainText = ({ text }: { readonly text: string }) => <>{visible(text)}</>;

/** The same, where a component for every word would be too many. */
export function visible(text: string): ComponentChildren {
  const parts = visibleParts(text);
  if (parts.every(({ isHidden }) => !isHidden)) return text;
  return parts.map((part) => (part.isHidden ? <span class="hidden-character">{part.text}</span> : part.text));
}
