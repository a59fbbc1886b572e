import { Refusal } from '../protocol/errors.ts';
import type { ToolInfo } from '../protocol/generated/vocabulary.ts';
import type { Tool } from './tool.ts';
import { chooseTools, type ToolChoice, DEFAULT_TOOLS } from './tool-choice.ts';

export type ToolSource = ToolInfo['source'];

/** How tools that are new shall be offered. */
interface OfferOptions {
  /** Which of them the model is offered, unless the choice that the box was made with says otherwise; all. */
  readonly isOffered?: (name: string) => boolean;
  /** True: whatever the choice says; whoever brings them has chosen. */
  readonly ignoreChoice?: boolean;
  /** True: one that goes and comes back is offered or not as it was before. */
  readonly keepActivation?: boolean;
}

/** Every tool there is, and which of them the model is offered. It outlives a change of session. */
export class Toolbox {
  readonly #tools = new Map<ToolSource, readonly Tool[]>();
  readonly #choice: ToolChoice;
  readonly #known = new Set<string>();
  readonly #offerConditions = new Map<string, () => boolean>();
  #active: ReadonlySet<string>;
  /** Somebody has chosen tools by name since. */
  #isChosenByName = false;

  constructor(builtins: readonly Tool[], choice: ToolChoice) {
    this.#tools.set('builtin', builtins);
    this.#choice = choice;
    const names = builtins.map(({ name }) => name);
    this.#active = new Set(chooseTools(names, choice, choice.builtin === false ? [] : DEFAULT_TOOLS).chosen);
  }

  /** Words of the choice that mean no tool. */
  get unknownPatterns(): readonly string[] {
    const names = this.#all.map(({ tool }) => tool.name);
    return chooseTools(names, this.#choice).unknown;
  }

  /** What the model is offered, in the order of the tools. */
  get active(): readonly Tool[] {
    return this.#all.flatMap(({ tool }) => (this.#isActive(tool.name) ? [tool] : []));
  }

  get activeNames(): string[] {
    return this.active.map(({ name }) => name);
  }

  /** Puts tau's own tools in the place of those from another folder. What was active by name stays so. */
  setBuiltins(tools: readonly Tool[]): void {
    this.#tools.set('builtin', tools);
  }

  /** Puts tools in the place of all others from there. What was active by name stays so; those that are new are offered. */
  setTools(source: ToolSource, tools: readonly Tool[], options: OfferOptions = {}): void {
    const { isOffered = () => true, ignoreChoice: ignoreChoice = false, keepActivation: keepActivation = false } = options;
    const active = new Set(this.#active);
    const names = new Set(tools.map(({ name }) => name));
    for (const { name } of keepActivation ? [] : (this.#tools.get(source) ?? [])) {
      if (names.has(name)) continue;
      this.#known.delete(name);
      if (!this.#isBuiltin(name)) active.delete(name);
    }
    const fresh = [...names].filter((name) => !this.#known.has(name) && isOffered(name));
    for (const name of names) this.#known.add(name);
    for (const name of ignoreChoice ? fresh : chooseTools(fresh, this.#choice, fresh).chosen) active.add(name);
    this.#active = active;
    this.#tools.set(source, tools);
  }

  /** Offers one of tau's own tools by itself while this holds, until somebody chooses tools by name. */
  offerWhile(name: string, condition: () => boolean): void {
    if (chooseTools([name], this.#choice, [name]).chosen.length > 0) this.#offerConditions.set(name, condition);
  }

  /** Where the tool of this name comes from. */
  sourceOf(name: string): ToolSource | undefined {
    return this.#all.find(({ tool }) => tool.name === name)?.source;
  }

  /** Offers these and no others. */
  activate(names: readonly string[]): void {
    const known = new Set(this.#all.map(({ tool }) => tool.name));
    const unknown = names.filter((name) => !known.has(name));
    if (unknown.length > 0) throw new Refusal('not_found', `No such tool: ${unknown.join(', ')}`);
    this.#active = new Set(names);
    this.#isChosenByName = true;
  }

  describe(): ToolInfo[] {
    return this.#all.map(({ source, tool: { name, description, parameters } }) => {
      return { name, description, parameters: { ...parameters }, active: this.#isActive(name), source };
    });
  }

  #isActive(name: string): boolean {
    return this.#active.has(name) || (!this.#isChosenByName && this.#offerConditions.get(name)?.() === true);
  }

  #isBuiltin(name: string): boolean {
    return this.#tools.get('builtin')?.some((tool) => tool.name === name) === true;
  }

  /** A name means one tool: that of an extension stands for one of tau's own, that of a server gives way to others. */
  get #all(): { source: ToolSource; tool: Tool }[] {
    const byName = new Map<string, { source: ToolSource; tool: Tool }>();
    for (const source of ['builtin', 'extension', 'host', 'mcp'] as const) {
      for (const tool of this.#tools.get(source) ?? []) {
        if (source === 'extension' || !byName.has(tool.name)) byName.set(tool.name, { source, tool });
      }
    }
    return [...byName.values()];
  }
}
