/** Longer than anybody writes by hand. */
const MAX_PATTERN_CHARACTERS = 1000;

/** A condition that can be looked for. */
export interface Pattern {
  /** As it was written. */
  readonly text: string;
  readonly regex: RegExp;
  /** Whether a search takes at most the square of the length of what it looks at. */
  readonly isSafe: boolean;
}

/** Reads a condition: a regular expression, with its flags as in `/…/i` or `(?i)…`. Throws when it is none. */
export function parsePattern(text: string): Pattern {
  if (text.length > MAX_PATTERN_CHARACTERS) {
    throw new Error(`a condition is longer than ${MAX_PATTERN_CHARACTERS} characters`);
  }
  const [, slashed, flags, inline, rest] = /^\/(.+)\/([gimsu]*)$|^\(\?([ims]+)\)(.*)$/s.exec(text) ?? [];
  const source = slashed ?? rest ?? text;
  try {
    const flagSet = new Set(`g${flags ?? inline ?? ''}`);
    return { text, regex: new RegExp(source, [...flagSet].join('')), isSafe: isSafeSource(source) };
  } catch {
    throw new Error(`the condition ${text} is no regular expression`);
  }
}

/** One repetition, and that not of a group: then there are few ways to fail. */
function isSafeSource(source: string): boolean {
  if (/\\[1-9k]/.test(source)) return false;
  const bare = source
    .replaceAll(/\\./gs, 'x')
    .replaceAll(/\[[^\]]*\]/g, 'x')
    .replaceAll('(?', '(');
  return !/\)[*+?{]/.test(bare) && (bare.match(/[*+?{]\??/g) ?? []).length <= 1;
}
