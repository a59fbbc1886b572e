import { messageOf } from '../../protocol/errors.ts';
import { frontMatter } from '../front-matter.ts';
import { tryReadPromptFile } from '../prompt-file.ts';
import { type Pattern, parsePattern } from './pattern.ts';
import { ruleNameOf } from './rule-files.ts';
import { anyGlobTest, type PathTest, parseScope, type Scope, splitList } from './scope.ts';

// A rule is added to the conversation unchanged.
const MAX_RULE_CHARACTERS = 20_000;

const MAX_CONDITIONS = 50;

const MODES = ['always', 'never', 'prose-only', 'tool-only'] as const;

/** When a match interrupts the response. */
export type InterruptMode = (typeof MODES)[number];

/** The fields of a rule that clients receive. */
export interface RuleFacts {
  readonly name: string;
  readonly path: string;
  readonly content: string;
  readonly description?: string;
  readonly condition: readonly string[];
  readonly scope: readonly string[];
  readonly globs?: readonly string[];
  readonly interruptMode?: InterruptMode;
}

/** A rule: a reminder for the model when its output matches a pattern. */
export interface Rule {
  readonly facts: RuleFacts;
  readonly patterns: readonly Pattern[];
  readonly scope: Scope;
  /** Undefined matches any path. */
  readonly paths: PathTest | undefined;
}

/** Parses a rule file; `rule` is absent if it has no conditions or is disabled. Throws for a malformed file. */
function parseRule(file: { path: string; text: string; fallbackName: string }): { name: string; rule?: Rule } {
  const { values, body, problem } = frontMatter(file.text);
  if (problem !== undefined) throw new Error(problem);
  const name = trimmedText(values['name']) ?? file.fallbackName;
  const condition = stringList(values, 'condition');
  if (condition.length === 0 || values['enabled'] === false) return { name };
  if (condition.length > MAX_CONDITIONS) throw new Error(`there are more than ${MAX_CONDITIONS} conditions`);
  const description = trimmedText(values['description']);
  const content = body || description;
  if (content === undefined) throw new Error('the rule has no text');
  if (content.length > MAX_RULE_CHARACTERS) {
    throw new Error(`the rule is longer than ${MAX_RULE_CHARACTERS} characters`);
  }
  const scope = stringList(values, 'scope').flatMap(splitList);
  const globs = stringList(values, 'globs').flatMap(splitList);
  const watched = scope.length > 0 ? scope : ['text', 'tool'];
  const interruptMode = parseInterruptMode(values['interruptMode']);
  const facts: RuleFacts = {
    name,
    path: file.path,
    content,
    ...(description === undefined ? {} : { description }),
    condition,
    scope: watched,
    ...(globs.length > 0 ? { globs } : {}),
    ...(interruptMode === undefined ? {} : { interruptMode }),
  };
  const paths = globs.length > 0 ? anyGlobTest(globs) : undefined;
  return { name, rule: { facts, patterns: condition.map(parsePattern), scope: parseScope(watched), paths } };
}

function trimmedText(value: unknown): string | undefined {
  const word = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
  return word === '' ? undefined : word;
}

// A string or a list of strings; blank ones are ignored.
function stringList(values: Record<string, unknown>, name: string): string[] {
  const value = values[name] ?? [];
  const items: unknown[] = Array.isArray(value) ? value : [value];
  return items
    .map((item) => {
      if (typeof item !== 'string') throw new Error(`${name} must be a text or a list of texts`);
      return item;
    })
    .filter((item) => item.trim() !== '');
}

function parseInterruptMode(value: unknown): InterruptMode | undefined {
  if (value === undefined || value === null) return undefined;
  const mode = MODES.find((known) => known === value);
  if (!mode) throw new Error(`interruptMode must be one of ${MODES.join(', ')}`);
  return mode;
}

/** Reads rule files; of several rules with one name the first counts. A malformed file gives a warning. */
export function readRules(files: readonly string[]): { rules: Rule[]; warnings: string[] } {
  const found = new Map<string, Rule | undefined>();
  const warnings: string[] = [];
  for (const path of files) {
    try {
      const text = tryReadPromptFile(path);
      if (text === undefined) throw new Error('the file cannot be read');
      const { name, rule } = parseRule({ path, text, fallbackName: ruleNameOf(path) });
      if (!found.has(name)) found.set(name, rule);
    } catch (error) {
      warnings.push(`${path}: ${messageOf(error)}; the rule is left out`);
    }
  }
  return { rules: [...found.values()].filter((rule) => rule !== undefined), warnings };
}
