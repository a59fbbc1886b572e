// Limit of a condition.
const MAX_PATTERN_CHARACTERS = 1000;

/** A parsed condition of a rule. */
export interface Pattern {
  readonly text: string;
  readonly regex: RegExp;
  /** True if a search takes at most quadratic time. */
  readonly isSafe: boolean;
}

/** Parses a regular expression with optional flags: `/…/i` or `(?i)…`. Throws if it is invalid. */
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

// A single quantifier that does not repeat a group has few ways to backtrack.
function isSafeSource(source: string): boolean {
  if (/\\[1-9k]/.test(source)) return false;
  const bare = source
    .replaceAll(/\\./gs, 'x')
    .replaceAll(/\[[^\]]*\]/g, 'x')
    .replaceAll('(?', '(');
  return !/\)[*+?{]/.test(bare) && (bare.match(/[*+?{]\??/g) ?? []).length <= 1;
}
