import { Refusal } from '../protocol/errors.ts';
import type { ToolInfo } from '../protocol/generated/vocabulary.ts';
import type { Tool } from './tool.ts';
import { chooseTools, type ToolChoice } from './tool-choice.ts';

export type ToolSource = ToolInfo['source'];

// How new tools are offered.
interface OfferOptions {
  // Which new tools are offered, unless the toolbox's choice decides; by default all.
  readonly isOffered?: (name: string) => boolean;
  // True: the toolbox's choice is ignored.
  readonly ignoreChoice?: boolean;
  // True: a tool that is removed and added again keeps its activation.
  readonly keepActivation?: boolean;
}

interface SourcedTool {
  readonly source: ToolSource;
  readonly tool: Tool;
}

/** All tools and which of them the model is offered. Outlives a change of session. */
export class Toolbox {
  readonly #tools = new Map<ToolSource, readonly Tool[]>();
  readonly #choice: ToolChoice;
  readonly #known = new Set<string>();
  readonly #offerConditions = new Map<string, () => boolean>();
  #active: ReadonlySet<string>;
  #cachedAll: readonly SourcedTool[] | undefined;
  /** True after `activate`: conditional offers no longer count. */
  #isChosenByName = false;

  constructor(builtins: readonly Tool[], choice: ToolChoice) {
    this.#tools.set('builtin', builtins);
    this.#choice = choice;
    const names = builtins.map(({ name }) => name);
    const defaults = choice.builtin === false ? [] : chooseTools(names, { patterns: choice.defaults }).chosen;
    this.#active = new Set(chooseTools(names, choice, defaults).chosen);
  }

  /** Patterns of the choice that match no tool. */
  get unknownPatterns(): readonly string[] {
    const names = this.#all.map(({ tool }) => tool.name);
    return chooseTools(names, this.#choice).unknown;
  }

  /** Tools that the model is offered, in toolbox order. */
  get active(): readonly Tool[] {
    return this.#all.flatMap(({ tool }) => (this.#isActive(tool.name) && tool.exposure !== 'hidden' ? [tool] : []));
  }

  /** Tools that other tools may call: active ones and those that wait for such calls. */
  get callable(): readonly Tool[] {
    return this.#all.flatMap(({ tool }) => (isCallable(tool, this.#isActive(tool.name)) ? [tool] : []));
  }

  get activeNames(): string[] {
    return this.active.map(({ name }) => name);
  }

  /** Replaces the built-in tools with those of another folder; activation by name stays. */
  setBuiltins(tools: readonly Tool[]): void {
    this.#setSource('builtin', tools);
  }

  /** Replaces all tools of a source. Activation by name stays; new tools are offered. */
  setTools(source: ToolSource, tools: readonly Tool[], options: OfferOptions = {}): void {
    const { isOffered = () => true, ignoreChoice = false, keepActivation = false } = options;
    const active = new Set(this.#active);
    const names = new Set(tools.map(({ name }) => name));
    for (const { name } of keepActivation ? [] : (this.#tools.get(source) ?? [])) {
      if (names.has(name)) continue;
      this.#known.delete(name);
      if (!this.#isBuiltin(name)) active.delete(name);
    }
    const kept = new Set(tools.filter(isOfferedByDefault).map(({ name }) => name));
    const fresh = [...names].filter((name) => !this.#known.has(name) && kept.has(name) && isOffered(name));
    for (const name of names) this.#known.add(name);
    for (const name of ignoreChoice ? fresh : chooseTools(fresh, this.#choice, fresh).chosen) active.add(name);
    this.#active = active;
    this.#setSource(source, tools);
  }

  /** Offers a built-in tool while the condition holds, until `activate` is called. */
  offerWhile(name: string, condition: () => boolean): void {
    if (chooseTools([name], this.#choice, [name]).chosen.length > 0) this.#offerConditions.set(name, condition);
  }

  sourceOf(name: string): ToolSource | undefined {
    return this.#all.find(({ tool }) => tool.name === name)?.source;
  }

  /** Offers these tools and no others. */
  activate(names: readonly string[]): void {
    const known = new Set(this.#all.map(({ tool }) => tool.name));
    const unknown = names.filter((name) => !known.has(name));
    if (unknown.length > 0) throw new Refusal('not_found', `No such tool: ${unknown.join(', ')}`);
    this.#active = new Set(names);
    this.#isChosenByName = true;
  }

  describe(): ToolInfo[] {
    return this.#all.map(({ source, tool: { name, description, parameters, exposure } }) => {
      const active = this.#isActive(name) && exposure !== 'hidden';
      return { name, description, parameters: { ...parameters }, active, source };
    });
  }

  /** Every tool with its source, active or not. */
  get all(): readonly SourcedTool[] {
    return this.#all;
  }

  #isActive(name: string): boolean {
    return this.#active.has(name) || (!this.#isChosenByName && this.#offerConditions.get(name)?.() === true);
  }

  #isBuiltin(name: string): boolean {
    return this.#tools.get('builtin')?.some((tool) => tool.name === name) === true;
  }

  /**
   * Each name means one tool: an extension's tool replaces a built-in one, an MCP server's tool gives way to all
   * others.
   */
  get #all(): readonly SourcedTool[] {
    this.#cachedAll ??= this.#merged();
    return this.#cachedAll;
  }

  #merged(): SourcedTool[] {
    const byName = new Map<string, SourcedTool>();
    for (const source of ['builtin', 'extension', 'host', 'mcp'] as const) {
      for (const tool of this.#tools.get(source) ?? []) {
        if (source === 'extension' || !byName.has(tool.name)) byName.set(tool.name, { source, tool });
      }
    }
    return [...byName.values()];
  }

  #setSource(source: ToolSource, tools: readonly Tool[]): void {
    this.#tools.set(source, tools);
    this.#cachedAll = undefined;
  }
}

const isOfferedByDefault = ({ exposure = 'direct' }: Tool): boolean =>
  exposure === 'direct' || exposure === 'model-only';

function isCallable({ exposure = 'direct' }: Tool, isActive: boolean): boolean {
  return exposure === 'codemode' || exposure === 'deferred' || (exposure === 'direct' && isActive);
}
