import type { Argv } from './plain-commands.ts';
import { escapeGlob, normalHost } from './rules.ts';

/** The rule for exactly these words. */
export const commandRuleText = (argv: Argv, outside: boolean): string =>
  lineRuleText(argv.map(quoted).join(' '), outside);

/** The same for a line that is not plain: no rule, but it names the line. */
export const lineRuleText = (line: string, outside: boolean): string => `${outside ? 'bash:outside' : 'bash'}(${line})`;

/** The rule for the commands that begin with these words. */
export const prefixRuleText = (words: Argv, outside: boolean): string =>
  lineRuleText(`${words.map(quoted).join(' ')} *`, outside);

/** The rule for exactly this file, by its real path or its path in the project. */
export const pathRuleText = (tool: 'read' | 'edit', path: string): string => `${tool}(${escapeGlob(path)})`;

/** The rule for all ports of a host. */
export const hostRuleText = (host: string): string => {
  const name = normalHost(host);
  return `network(${name.includes(':') ? `[${name}]` : name})`;
};

/** The word in a syntax that is plain. */
function quoted(word: string): string {
  if (/^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*$/.test(word)) return word;
  if (!word.includes("'")) return `'${word}'`;
  return `'${word.replaceAll("'", `'"'"'`)}'`;
}
