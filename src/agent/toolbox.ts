import { Refusal } from '../protocol/errors.ts';
import type { ToolInfo } from '../protocol/generated/vocabulary.ts';
import type { Tool } from './tool.ts';
import { chooseTools, type ToolChoice } from './tool-choice.ts';

export type ToolSource = ToolInfo['source'];

/** Every tool there is, and which of them the model is offered. It outlives a change of session. */
export class Toolbox {
  readonly #tools = new Map<ToolSource, readonly Tool[]>();
  #active: ReadonlySet<string>;
  /** Words of the choice that mean no tool. */
  readonly unknown: readonly string[];

  constructor(builtins: readonly Tool[], choice: ToolChoice) {
    this.#tools.set('builtin', builtins);
    const { chosen, unknown } = chooseTools(
      builtins.map(({ name }) => name),
      choice,
    );
    this.#active = new Set(chosen);
    this.unknown = unknown;
  }

  /** What the model is offered, in the order of the tools. */
  get active(): readonly Tool[] {
    return this.#all.filter(({ name }) => this.#active.has(name));
  }

  get activeNames(): string[] {
    return this.active.map(({ name }) => name);
  }

  /** Puts tools in the place of all others from there. What was active by name stays so. */
  put(source: ToolSource, tools: readonly Tool[]): void {
    this.#tools.set(source, tools);
  }

  /**
   * Puts tools in the place of all others from there. Those that were there before stay offered or not; new ones are
   * offered where that is wanted, and those that are gone are forgotten.
   */
  replace(source: ToolSource, tools: readonly Tool[], isWanted: (name: string) => boolean): void {
    const before = new Set(this.#tools.get(source)?.map(({ name }) => name));
    const active = new Set(this.#active);
    for (const { name } of tools) if (!before.delete(name) && isWanted(name)) active.add(name);
    for (const name of before) active.delete(name);
    this.#active = active;
    this.put(source, tools);
  }

  /** Where the tool with this name comes from. */
  sourceOf(name: string): ToolSource | undefined {
    for (const [source, tools] of this.#tools) if (tools.some((tool) => tool.name === name)) return source;
    return undefined;
  }

  /** Offers these and no others. */
  activate(names: readonly string[]): void {
    const known = new Set(this.#all.map(({ name }) => name));
    const unknown = names.filter((name) => !known.has(name));
    if (unknown.length > 0) throw new Refusal('not_found', `No such tool: ${unknown.join(', ')}`);
    this.#active = new Set(names);
  }

  describe(): ToolInfo[] {
    return [...this.#tools].flatMap(([source, tools]) =>
      tools.map(({ name, description, parameters }) => {
        return { name, description, parameters: { ...parameters }, active: this.#active.has(name), source };
      }),
    );
  }

  get #all(): Tool[] {
    return [...this.#tools.values()].flat();
  }
}
