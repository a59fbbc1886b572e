import { relative } from 'node:path';
import { resolveToolPath } from '../../agent/tools/tool-path.ts';
import type { ToolCall } from '../../protocol/generated/vocabulary.ts';
import { CallText, pathOf } from './call-text.ts';
import type { Rule } from './rule.ts';
import { reaches } from './scope.ts';
import { TextWindow, type View } from './text-window.ts';

export interface WatchParts {
  readonly cwd: string;
  /** Whether a condition of the rule is met. */
  readonly fits: (rule: Rule, view: View) => boolean;
}

/** A block of an answer while it streams; answers the rules that have matched by now. */
export interface Block {
  readonly id?: string;
  add(delta: string): Rule[];
  end?(call: ToolCall): Rule[];
}

/** What the model says or thinks. */
export class Prose implements Block {
  readonly #rules: Set<Rule>;
  readonly #fits: WatchParts['fits'];
  readonly #window = new TextWindow();

  constructor(rules: readonly Rule[], { fits }: WatchParts) {
    this.#rules = new Set(rules);
    this.#fits = fits;
  }

  add(delta: string): Rule[] {
    const found: Rule[] = [];
    for (const view of this.#window.add(delta)) {
      for (const rule of this.#rules) {
        if (!this.#fits(rule, view)) continue;
        this.#rules.delete(rule);
        found.push(rule);
      }
    }
    return found;
  }
}

/** A call of a tool. */
export class Call implements Block {
  readonly id: string;
  readonly #tool: string;
  readonly #cwd: string;
  readonly #text = new CallText();
  readonly #prose: Prose;
  #isSilent = true;
  /** Met, but whether they are about this file is not known yet. */
  #waiting: Rule[] = [];

  constructor({ id, tool }: { id: string; tool: string }, rules: readonly Rule[], parts: WatchParts) {
    this.id = id;
    this.#tool = tool;
    this.#cwd = parts.cwd;
    this.#prose = new Prose(rules, parts);
  }

  add(delta: string): Rule[] {
    this.#isSilent = false;
    this.#waiting.push(...this.#prose.add(this.#text.add(delta)));
    return this.#waiting.length > 0 ? this.#decided(this.#text.path) : [];
  }

  end({ arguments: args }: ToolCall): Rule[] {
    const early = this.#isSilent ? this.add(JSON.stringify(args)) : [];
    return [...early, ...this.#decided(pathOf(args) ?? null)];
  }

  #decided(named: string | null | undefined): Rule[] {
    const path = named && relativeTo(this.#cwd, named);
    const verdicts = this.#waiting.map((rule) => ({ rule, fits: reaches(rule, { tool: this.#tool, path }) }));
    this.#waiting = verdicts.filter(({ fits }) => fits === undefined).map(({ rule }) => rule);
    return verdicts.filter(({ fits }) => fits).map(({ rule }) => rule);
  }
}

/** As globs have it; null for what can be no path. */
function relativeTo(cwd: string, named: string): string | null {
  if (named.includes('\0')) return null;
  const path = resolveToolPath(cwd, named);
  const inside = relative(cwd, path);
  return inside === '..' || inside.startsWith('../') ? path.slice(1) : inside;
}
