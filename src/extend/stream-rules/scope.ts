import { fileGlob } from '../../agent/tools/search/glob.ts';

export type PathTest = (path: string) => boolean;

/** The output that a rule watches. */
export interface Scope {
  readonly text: boolean;
  readonly thinking: boolean;
  readonly calls: readonly CallScope[];
}

interface CallScope {
  // Undefined covers every tool.
  readonly tool: string | undefined;
  readonly paths: PathTest | undefined;
}

/** Parses scope terms: `text`, `thinking`, `tool` or a tool name, optionally with paths as in `edit(*.ts)`. */
export function parseScope(terms: readonly string[]): Scope {
  const calls = terms.filter((term) => term !== 'text' && term !== 'thinking').map(parseCallScope);
  return { text: terms.includes('text'), thinking: terms.includes('thinking'), calls };
}

function parseCallScope(term: string): CallScope {
  const parts = /^(?:tool(?:call)?(?::([\w.-]+))?|(?!(?:text|thinking)\b)([\w.-]+))(?:\((.+)\))?$/s.exec(term);
  if (!parts) throw new Error(`the scope ${term} is not known`);
  const [, named, alone, globs] = parts;
  return { tool: named ?? alone, paths: globs === undefined ? undefined : anyGlobTest(splitList(globs)) };
}

export function anyGlobTest(globs: readonly string[]): PathTest {
  const tests = globs.map(fileGlob);
  return (path) => tests.some((test) => test(path, false));
}

/** Splits a list at commas outside of brackets. */
export const splitList = (text: string): string[] =>
  (text.match(/(?:\{[^}]*\}|\([^)]*\)|\[[^\]]*\]|[^,])+/g) ?? []).map((item) => item.trim()).filter(Boolean);

/** Whether a rule covers a call; undefined while the path is unknown. A null path means that the call has none. */
export function coversCall(
  { scope, paths }: { readonly scope: Scope; readonly paths: PathTest | undefined },
  { tool, path }: { readonly tool: string; readonly path: string | null | undefined },
): boolean | undefined {
  const covers = (test: PathTest | undefined) => {
    if (!test) return true;
    return path === undefined ? undefined : path !== null && test(path);
  };
  const named = scope.calls
    .filter((one) => one.tool === undefined || one.tool === tool)
    .map((one) => covers(one.paths));
  const own = covers(paths);
  if (own === false || named.every((fit) => fit === false)) return false;
  return named.includes(true) ? own : undefined;
}
