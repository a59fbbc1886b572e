import { BUILTIN_TOOL_NAMES } from '../../agent/tools/builtin-tools.ts';
import { fileGlob } from '../../agent/tools/search/glob.ts';
import { wildcardTest } from '../../protocol/matching/wildcards.ts';
import { type Argv, canBePlain, commandWords } from './plain-commands.ts';

// More rules than a user writes; each is compared with every call.
const MAX_RULES = 1000;

/** A rule of the settings, or a saved approval. */
export type ApprovalRule = ToolRule | CommandRule | PathRule | HostRule;

interface ToolRule {
  readonly type: 'tool';
  readonly text: string;
  /** Whether the rule covers a tool of this name. */
  readonly covers: (toolName: string) => boolean;
  /** Only calls that leave the sandbox. */
  readonly outside: boolean;
}

/** Covers the command with these words; with `anyMore` also with any further words. */
export interface CommandRule {
  readonly type: 'command';
  readonly text: string;
  readonly words: Argv;
  readonly anyMore: boolean;
  readonly outside: boolean;
}

/** Covers files. */
export interface PathRule {
  readonly type: 'path';
  readonly text: string;
  readonly covers: (toolName: string) => boolean;
  /** Tests a path relative to the project, or an absolute one. */
  readonly matches: (path: string) => boolean;
  readonly isAbsolute: boolean;
  /** Whether the pattern names `.git` or `.pi`. */
  readonly namesProtected: boolean;
}

interface HostRule {
  readonly type: 'host';
  readonly text: string;
  readonly matches: (host: string) => boolean;
  /** Whether the rule names one host. */
  readonly isExact: boolean;
  readonly port?: number;
}

/** How rules are read: for which list, and where `~` is. */
export interface RuleContext {
  readonly list: 'allow' | 'ask' | 'deny';
  /** The real path of the home folder. */
  readonly home: string;
}

/** Parses rules. One that makes no sense is left out with a warning, which names it. */
export function parseRules(
  texts: readonly string[],
  context: RuleContext,
): { rules: ApprovalRule[]; warnings: string[] } {
  const rules: ApprovalRule[] = [];
  const warnings: string[] = [];
  for (const text of texts.slice(0, MAX_RULES)) {
    const rule = parseRule(text.trim(), context);
    if (typeof rule === 'string') warnings.push(`${context.list} rule ${JSON.stringify(text)}: ${rule}; it is ignored`);
    else rules.push(rule);
  }
  if (texts.length > MAX_RULES)
    warnings.push(`There are more than ${MAX_RULES} ${context.list} rules; the others are ignored`);
  return { rules, warnings };
}

/** A rule, or why the text is none. */
function parseRule(text: string, context: RuleContext): ApprovalRule | string {
  const [, name = '', spec] = /^([\w.-]+(?::outside)?\*?|\*)(?:\((.*)\))?$/s.exec(text) ?? [];
  if (name === '') return 'a rule is tool, tool* or tool(…)';
  const known = [...BUILTIN_TOOL_NAMES, 'network'].find((other) => other === name.toLowerCase());
  if (known !== undefined && known !== name) return `the tool is named ${known}`;
  if (name.includes(':') && name !== 'bash:outside') return 'only bash can run outside of the sandbox';
  if (spec === undefined) return nameRule(text, name);
  if (spec.trim() === '') return 'nothing stands between ( and )';
  if (name === 'bash' || name === 'bash:outside') return commandRule(text, spec.trim(), context);
  if (name === 'network') return hostRule(text, spec.trim());
  if (FILE_TOOLS.includes(name)) return pathRule({ text, name, glob: spec }, context);
  return 'only bash, read, edit and network take (…)';
}

const FILE_TOOLS = ['read', 'grep', 'find', 'ls', 'edit', 'write'];

// Tools that a name covers beside its own: they reach the same files.
const coveredTools: Readonly<Record<string, readonly string[]>> = {
  read: ['grep', 'find', 'ls'],
  edit: ['write'],
};

const toolTest = (name: string) => {
  const covered = new Set([name, ...(Object.hasOwn(coveredTools, name) ? (coveredTools[name] ?? []) : [])]);
  return (toolName: string) => covered.has(toolName);
};

function nameRule(text: string, name: string): ApprovalRule {
  if (name === 'network') return { type: 'host', text, matches: () => true, isExact: false };
  const outside = name === 'bash:outside';
  const covers = name.endsWith('*') ? wildcardTest(name) : toolTest(outside ? 'bash' : name);
  return { type: 'tool', text, covers, outside };
}

function commandRule(text: string, spec: string, { list }: RuleContext): ApprovalRule | string {
  const anyMore = spec === '*' || spec.endsWith(' *');
  const outside = text.startsWith('bash:outside');
  if (list === 'allow' && outside && anyMore && spec !== '*')
    return 'outside of the sandbox further words can run any program, so a rule that allows cannot end with *';
  const fixed = anyMore ? spec.slice(0, -1).trim() : spec;
  const words = fixed === '' ? [] : commandWords(fixed);
  if (!words) return 'a rule for bash holds the words of one command; only a last word * is a wildcard';
  const [program] = words;
  if (list === 'allow' && program !== undefined && !canBePlain(program))
    return `${program} can change what other commands do, so no rule allows it`;
  return { type: 'command', text, words, anyMore, outside };
}

interface GlobRule {
  readonly text: string;
  readonly name: string;
  readonly glob: string;
}

function pathRule({ text, name, glob }: GlobRule, { home }: RuleContext): ApprovalRule | string {
  const pattern = glob.replace(/^~(?=\/|$)/, escapeGlob(home)).replace(/^(\.\/)+/, '');
  if (pattern.split('/').includes('..')) return 'a pattern for files cannot hold ..';
  const isAbsolute = pattern.startsWith('/');
  try {
    // A first folder keeps a pattern without `/` from matching names at any depth.
    const test = fileGlob(isAbsolute ? `root${pattern}` : `root/${pattern}`);
    return {
      type: 'path',
      text,
      covers: toolTest(name),
      matches: (path) => test(isAbsolute ? `root${path}` : `root/${path}`, true),
      isAbsolute,
      namesProtected: pattern.split('/').some((part) => part === '.git' || part === '.pi'),
    };
  } catch {
    return 'the pattern has too many alternatives';
  }
}

function hostRule(text: string, spec: string): ApprovalRule | string {
  const [, host = '', port] = /^((?:\*\.)?[\w-][\w.-]*|\[[\da-f:.]+\]|\*)(?::(\d{1,5}))?$/i.exec(spec) ?? [];
  if (host === '') return 'network(…) holds the name of a host, such as example.com or *.example.com';
  const matches = wildcardTest(normalHost(host));
  return {
    type: 'host',
    text,
    matches,
    isExact: !host.includes('*'),
    ...(port === undefined ? {} : { port: Number(port) }),
  };
}

/** The one spelling of a host name in which rules and hosts are compared. */
export const normalHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');

/** A pattern that matches exactly this path. */
export const escapeGlob = (path: string): string => path.replaceAll(/[\\*?[\]{},!~]/g, '\\$&');
