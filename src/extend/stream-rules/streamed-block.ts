import { relative } from 'node:path';
import { resolveToolPath } from '../../agent/tools/tool-path.ts';
import type { ToolCall } from '../../protocol/generated/vocabulary.ts';
import { CallText, pathIn } from './call-text.ts';
import type { Rule } from './rule.ts';
import { coversCall } from './scope.ts';
import { type TextView, TextWindow } from './text-window.ts';

export interface WatchOptions {
  readonly cwd: string;
  /** True if a condition of the rule matches. */
  readonly matches: (rule: Rule, view: TextView) => boolean;
}

/** A streamed block of a model response; returns the rules that match so far. */
export interface StreamedBlock {
  readonly id?: string;
  add(delta: string): Rule[];
  end?(call: ToolCall): Rule[];
}

/** A text or thinking block. */
export class ProseBlock implements StreamedBlock {
  readonly #rules: Set<Rule>;
  readonly #matches: WatchOptions['matches'];
  readonly #window = new TextWindow();

  constructor(rules: readonly Rule[], { matches }: WatchOptions) {
    this.#rules = new Set(rules);
    this.#matches = matches;
  }

  add(delta: string): Rule[] {
    const found: Rule[] = [];
    for (const view of this.#window.add(delta)) {
      for (const rule of this.#rules) {
        if (!this.#matches(rule, view)) continue;
        this.#rules.delete(rule);
        found.push(rule);
      }
    }
    return found;
  }
}

/** A tool call block. */
export class ToolCallBlock implements StreamedBlock {
  readonly id: string;
  readonly #tool: string;
  readonly #cwd: string;
  readonly #text = new CallText();
  readonly #prose: ProseBlock;
  #hasNoDelta = true;
  /** Rules that match the text, while the path of the file is still unknown. */
  #undecided: Rule[] = [];

  constructor({ id, tool }: { id: string; tool: string }, rules: readonly Rule[], options: WatchOptions) {
    this.id = id;
    this.#tool = tool;
    this.#cwd = options.cwd;
    this.#prose = new ProseBlock(rules, options);
  }

  add(delta: string): Rule[] {
    this.#hasNoDelta = false;
    this.#undecided.push(...this.#prose.add(this.#text.add(delta)));
    return this.#undecided.length > 0 ? this.#decide(this.#text.path) : [];
  }

  end({ arguments: args }: ToolCall): Rule[] {
    const early = this.#hasNoDelta ? this.add(JSON.stringify(args)) : [];
    return [...early, ...this.#decide(pathIn(args) ?? null)];
  }

  #decide(named: string | null | undefined): Rule[] {
    const path = named && relativeTo(this.#cwd, named);
    const verdicts = this.#undecided.map((rule) => ({ rule, covers: coversCall(rule, { tool: this.#tool, path }) }));
    this.#undecided = verdicts.filter(({ covers }) => covers === undefined).map(({ rule }) => rule);
    return verdicts.filter(({ covers }) => covers).map(({ rule }) => rule);
  }
}

// The path as globs expect it; null if it cannot be a path.
function relativeTo(cwd: string, named: string): string | null {
  if (named.includes('\0')) return null;
  const path = resolveToolPath(cwd, named);
  const inside = relative(cwd, path);
  return inside === '..' || inside.startsWith('../') ? path.slice(1) : inside;
}
