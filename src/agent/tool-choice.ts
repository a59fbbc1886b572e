import { wildcardTest } from '../protocol/matching/wildcards.ts';

/** Which tools a model is offered, as the command line states it. */
export interface ToolChoice {
  /** Tool names, with `*` as a wildcard: only these. `+name` and `-name` change the defaults instead. */
  readonly patterns?: readonly string[] | undefined;
  readonly excluded?: readonly string[] | undefined;
  /** Replaces or changes the built-in defaults, as `patterns` do. */
  readonly defaults?: readonly string[] | undefined;
  /** False: the defaults contain no built-in tool. */
  readonly builtin?: boolean | undefined;
}

/** Built-in tools that a model is offered by default; tools of other sources are all offered. */
export const DEFAULT_TOOLS: readonly string[] = ['read', 'bash', 'edit', 'write'];

/**
 * Returns the chosen names in their original order and the patterns that match none. `defaults`: the names to start
 * from.
 */
export function chooseTools(names: readonly string[], choice: ToolChoice, defaults: readonly string[] = DEFAULT_TOOLS) {
  const { patterns, excluded = [] } = choice;
  const chosen = new Set(modifiesDefaults(patterns) ? names.filter((name) => defaults.includes(name)) : []);
  const unknown: string[] = [];
  const apply = (pattern: string, change: (name: string) => void) => {
    const matching = names.filter(toolTest(pattern));
    if (matching.length === 0) unknown.push(pattern);
    for (const name of matching) change(name);
  };
  for (const signed of patterns ?? []) {
    if (signed.startsWith('-')) apply(signed.slice(1), (name) => chosen.delete(name));
    else apply(signed.replace(/^\+/, ''), (name) => chosen.add(name));
  }
  for (const pattern of excluded) apply(pattern, (name) => chosen.delete(name));
  return { chosen: names.filter((name) => chosen.has(name)), unknown };
}

/** A pattern also matches the name that pi gives to a tool of an MCP server: `mcp__server__tool`, with `_` for `-`. */
function toolTest(pattern: string): (name: string) => boolean {
  const matches = wildcardTest(pattern);
  if (!pattern.startsWith('mcp__')) return matches;
  return (name) => matches(name) || (name.includes('__') && matches(`mcp__${name.replaceAll('-', '_')}`));
}

/** True if there are no patterns, or all of them start with `+` or `-`. */
const modifiesDefaults = (patterns: readonly string[] | undefined) =>
  patterns === undefined || (patterns.length > 0 && patterns.every((pattern) => /^[+-]/.test(pattern)));
