// Runs of one invisible or reordering character, except joiners. The limit keeps the expression from overflowing its stack.
const HIDDEN = /((?![\t\n\r\u200c\u200d])[\p{Cc}\p{Cf}])\1{0,99999}/gu;

// The same for text that a user approves: also joiners, carriage returns, and characters that only look like a space.
const HIDDEN_IN_APPROVALS = /((?![\t\n ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800])\1{0,99999}/gu;

// Hidden characters after so many parts are only counted.
const MAX_PARTS = 2000;

// Visible text, or the code point of a hidden character.
export interface TextPart {
  readonly text: string;
  readonly isHidden: boolean;
}

/** Splits a text into visible parts, with every character marked that could make a command look like another one. */
export const exactParts = (text: string): readonly TextPart[] => visibleParts(text, HIDDEN_IN_APPROVALS);

/** Splits a text into visible parts, with hidden characters replaced by their code points. */
export function visibleParts(text: string, hidden = HIDDEN): readonly TextPart[] {
  const parts: TextPart[] = [];
  const add = (part: string, isHidden: boolean) => part && parts.push({ text: part, isHidden });
  let [end, uncounted, rest] = [0, 0, ''];
  for (const { 0: run, index } of text.matchAll(hidden)) {
    const count = [...run].length;
    rest += text.slice(end, index);
    end = index + run.length;
    if (parts.length < MAX_PARTS) {
      add(rest, false);
      add(codePointName(run) + (count > 1 ? ` ×${count}` : ''), true);
      rest = '';
    } else uncounted += count;
  }
  if (uncounted > 0) add(`${uncounted} more`, true);
  add(rest + text.slice(end), false);
  return parts;
}

/** The same as one string, for places that accept only text. */
export const visibleText = (text: string): string =>
  visibleParts(text)
    .map((part) => part.text)
    .join('');

const codePointName = (run: string) => `U+${run.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
