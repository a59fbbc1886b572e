import { ANYTHING, matchesSteps, type PatternStep } from '../../../protocol/matching/wildcards.ts';

// More alternatives than anyone writes by hand.
const MAX_ALTERNATIVES = 256;

type Test = (item: string) => boolean;
type Step = PatternStep<string>;

/**
 * A test for one name without `/` in the language of .gitignore: `*`, `?`, `[a-z]`, `\` as an escape. Takes at most the
 * product of both lengths in time.
 */
export function nameGlob(pattern: string): Test {
  const plain = /^(\*?)([^*?[\\]*)$/.exec(pattern);
  if (plain) {
    const [, star, rest = ''] = plain;
    return star ? (name) => name.endsWith(rest) : (name) => name === rest;
  }
  const steps = nameSteps(pattern);
  return steps ? (name) => matchesSteps(steps, name) : () => false;
}

/** A test for a relative path. `**` between two `/` matches any number of folders, at the end everything inside. */
export function pathGlob(pattern: string): Test {
  const segments = pattern.split('/');
  const steps = segments.flatMap((segment, index): Step[] => {
    if (segment !== '**') return [{ matches: nameGlob(segment) }];
    return index === segments.length - 1 ? [{ matches: () => true }, ANYTHING] : [ANYTHING];
  });
  return (path) => matchesSteps(steps, path.split('/'));
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

/** Undefined for a pattern that matches nothing: an unclosed bracket or a trailing `\`. */
function nameSteps(pattern: string): Step[] | undefined {
  const steps: Step[] = [];
  for (let rest = pattern; rest !== ''; ) {
    const bracket = /^\[([!^]?)(\]?(?:\\.|\[:\w+:\]|[^\]\\])*)\]/su.exec(rest);
    const [taken = '', escaped] = bracket ?? /^\\(.)|^[^\\[]/su.exec(rest) ?? [];
    if (taken === '') return undefined;
    if (bracket) steps.push({ matches: bracketTest(bracket[2] ?? '', bracket[1] !== '') });
    else if (taken === '*') steps.push(ANYTHING);
    else if (taken === '?') steps.push({ matches: () => true });
    else steps.push({ matches: (character) => character === (escaped ?? taken) });
    rest = rest.slice(taken.length);
  }
  return steps;
}

function bracketTest(inside: string, isNegated: boolean): Test {
  const members = [...inside.matchAll(/\[:(\w+):\]|(\\.|.)-(\\.|.)|\\?(.)/gsu)].map(memberTest);
  return (character) => members.some((test) => test(character)) !== isNegated;
}

function memberTest([, named, from, to, one]: RegExpExecArray): Test {
  if (named !== undefined) {
    const pattern = Object.hasOwn(namedClasses, named) ? namedClasses[named] : undefined;
    return (character) => pattern?.test(character) ?? false;
  }
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
