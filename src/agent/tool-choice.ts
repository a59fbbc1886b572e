/** Which tools a model is offered, in the words of a command line. */
export interface ToolChoice {
  /** Names, with `*` for any letters: these and no others. `+name` and `-name` change the usual ones instead. */
  readonly patterns?: readonly string[] | undefined;
  readonly excluded?: readonly string[] | undefined;
  /** False: tau's own tools are not among the usual ones. */
  readonly builtin?: boolean | undefined;
}

/** Those of tau's own tools that the model is offered unless somebody says otherwise; of others it is offered all. */
export const DEFAULT_TOOLS: readonly string[] = ['read', 'bash', 'edit', 'write'];

/** The names that are meant, in their own order, and those words that mean none. `usual`: those to start from. */
export function chooseTools(names: readonly string[], choice: ToolChoice, defaults: readonly string[] = DEFAULT_TOOLS) {
  const { patterns, excluded = [] } = choice;
  const chosen = new Set(modifiesDefaults(patterns) ? names.filter((name) => defaults.includes(name)) : []);
  const unknown: string[] = [];
  const apply = (pattern: string, change: (name: string) => void) => {
    const matching = names.filter((name) => matchesPattern(name, pattern));
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

/** Whether the words start from the usual tools: when there are none, or all of them say more or less. */
const modifiesDefaults = (patterns: readonly string[] | undefined) =>
  patterns === undefined || (patterns.length > 0 && patterns.every((pattern) => /^[+-]/.test(pattern)));

function matchesPattern(name: string, pattern: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(name);
}
