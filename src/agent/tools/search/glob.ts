// More alternatives than anyone writes by hand.
const MAX_ALTERNATIVES = 256;

const ANY_NUMBER = Symbol('*');

type Test<Item> = (item: Item) => boolean;
type Token<Item> = typeof ANY_NUMBER | Test<Item>;

/**
 * A test for one name without `/` in the language of .gitignore: `*`, `?`, `[a-z]`, `\` as an escape. Takes at most the
 * product of both lengths in time.
 */
export function nameGlob(pattern: string): Test<string> {
  const plain = /^(\*?)([^*?[\\]*)$/.exec(pattern);
  if (plain) {
    const [, star, rest = ''] = plain;
    return star ? (name) => name.endsWith(rest) : (name) => name === rest;
  }
  const tokens = nameTokens(pattern);
  return tokens ? (name) => matchesTokens(tokens, [...name]) : () => false;
}

/** A test for a relative path. `**` between two `/` matches any number of folders, at the end everything inside. */
export function pathGlob(pattern: string): Test<string> {
  const segments = pattern.split('/');
  const tokens = segments.flatMap((segment, index): Token<string>[] => {
    if (segment !== '**') return [nameGlob(segment)];
    return index === segments.length - 1 ? [() => true, ANY_NUMBER] : [ANY_NUMBER];
  });
  return (path) => matchesTokens(tokens, path.split('/'));
}

/**
 * A test for paths in the language of models: `{a,b}` for alternatives, no `/` for names at any depth, a trailing `/`
 * for folders only.
 */
export function fileGlob(pattern: string): (path: string, isFolder: boolean) => boolean {
  const foldersOnly = pattern.endsWith('/');
  const tests = alternatives(pattern.replace(/^(\.?\/)+|\/+$/g, '')).map((one) => {
    if (one.includes('/')) return pathGlob(one);
    const test = nameGlob(one);
    return (path: string) => test(path.slice(path.lastIndexOf('/') + 1));
  });
  return (path, isFolder) => (isFolder || !foldersOnly) && tests.some((test) => test(path));
}

/** Backtracks to the last wildcard only: the match of an earlier one can stay. */
function matchesTokens<Item>(tokens: readonly Token<Item>[], items: readonly Item[]): boolean {
  let token = 0;
  let item = 0;
  let retry: { token: number; item: number } | undefined;
  while (item < items.length) {
    const test = tokens[token];
    if (test === ANY_NUMBER) retry = { token: ++token, item };
    else if (test?.(items[item] as Item)) {
      token++;
      item++;
    } else if (retry) {
      retry.item++;
      ({ token, item } = retry);
    } else return false;
  }
  return tokens.slice(token).every((rest) => rest === ANY_NUMBER);
}

/** Undefined for a pattern that matches nothing: an unclosed bracket or a trailing `\`. */
function nameTokens(pattern: string): Token<string>[] | undefined {
  const tokens: Token<string>[] = [];
  for (let rest = pattern; rest !== ''; ) {
    const bracket = /^\[([!^]?)(\]?(?:\\.|\[:\w+:\]|[^\]\\])*)\]/su.exec(rest);
    const [taken = '', escaped] = bracket ?? /^\\(.)|^[^\\[]/su.exec(rest) ?? [];
    if (taken === '') return undefined;
    if (bracket) tokens.push(bracketTest(bracket[2] ?? '', bracket[1] !== ''));
    else if (taken === '*') tokens.push(ANY_NUMBER);
    else if (taken === '?') tokens.push(() => true);
    else tokens.push((character) => character === (escaped ?? taken));
    rest = rest.slice(taken.length);
  }
  return tokens;
}

function bracketTest(inside: string, isNegated: boolean): Test<string> {
  const members = [...inside.matchAll(/\[:(\w+):\]|(\\.|.)-(\\.|.)|\\?(.)/gsu)].map(memberTest);
  return (character) => members.some((test) => test(character)) !== isNegated;
}

function memberTest([, named, from, to, one]: RegExpExecArray): Test<string> {
  if (named !== undefined) return (character) => namedClasses[named]?.test(character) ?? false;
  if (from === undefined || to === undefined) return (character) => character === one;
  const [first, last] = [from, to].map((end) => end.replace(/^\\(?=.)/su, '').codePointAt(0) ?? 0) as [number, number];
  return (character) => {
    const code = character.codePointAt(0) ?? 0;
    return first <= code && code <= last;
  };
}

const namedClasses: Readonly<Record<string, RegExp>> = {
  alnum: /[a-zA-Z0-9]/,
  alpha: /[a-zA-Z]/,
  blank: /[ \t]/,
  digit: /[0-9]/,
  lower: /[a-z]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t\n\v\f\r]/,
  upper: /[A-Z]/,
  xdigit: /[0-9a-fA-F]/,
};

/** Expands `{a,b}` into all alternatives. Unclosed braces are literal. */
function alternatives(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (done.length + open.length > MAX_ALTERNATIVES) throw new Error(`Too many alternatives in ${pattern}`);
    const inner = /(?<!\\)\{((?:\\.|[^{}\\])*)\}/su.exec(next);
    if (!inner) {
      done.push(next);
      continue;
    }
    const before = next.slice(0, inner.index);
    const after = next.slice(inner.index + inner[0].length);
    for (const choice of (inner[1] ?? '').split(/(?<!\\),/)) open.push(before + choice + after);
  }
  return done;
}
