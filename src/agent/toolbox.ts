import { Refusal } from '../protocol/errors.ts';
import type { ToolInfo } from '../protocol/generated/vocabulary.ts';
import type { Tool } from './tool.ts';
import { chooseTools, type ToolChoice, USUAL_TOOLS } from './tool-choice.ts';

export type ToolSource = ToolInfo['source'];

/** Every tool there is, and which of them the model is offered. It outlives a change of session. */
export class Toolbox {
  readonly #tools = new Map<ToolSource, readonly Tool[]>();
  readonly #choice: ToolChoice;
  /** Every name there ever was. */
  readonly #seen: Set<string>;
  #active: ReadonlySet<string>;
  /** Words of the choice that mean no tool. */
  readonly unknown: readonly string[];

  constructor(builtins: readonly Tool[], choice: ToolChoice) {
    this.#tools.set('builtin', builtins);
    this.#choice = choice;
    const names = builtins.map(({ name }) => name);
    const { chosen, unknown } = chooseTools(names, choice, choice.builtin === false ? [] : USUAL_TOOLS);
    this.#seen = new Set(names);
    this.#active = new Set(chosen);
    this.unknown = unknown;
  }

  /** What the model is offered, in the order of the tools. */
  get active(): readonly Tool[] {
    return this.#all.flatMap(({ tool }) => (this.#active.has(tool.name) ? [tool] : []));
  }

  get activeNames(): string[] {
    return this.active.map(({ name }) => name);
  }

  /**
   * Puts tools in the place of all others from there. What was active by name stays so; a name that is new is active,
   * unless the choice that the box was made with says otherwise.
   */
  put(source: ToolSource, tools: readonly Tool[]): void {
    this.#tools.set(source, tools);
    if (source === 'builtin') return;
    const fresh = tools.map(({ name }) => name).filter((name) => !this.#seen.has(name));
    for (const name of fresh) this.#seen.add(name);
    this.#active = new Set([...this.#active, ...chooseTools(fresh, this.#choice, fresh).chosen]);
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
  }

  describe(): ToolInfo[] {
    return this.#all.map(({ source, tool: { name, description, parameters } }) => {
      return { name, description, parameters: { ...parameters }, active: this.#active.has(name), source };
    });
  }

  /** A name means one tool: those of MCP servers come last and give way to others. */
  get #all(): { source: ToolSource; tool: Tool }[] {
    const listed = [...this.#tools].flatMap(([source, tools]) => tools.map((tool) => ({ source, tool })));
    const others = listed.filter(({ source }) => source !== 'mcp');
    const taken = new Set(others.map(({ tool }) => tool.name));
    return [...others, ...listed.filter(({ source, tool }) => source === 'mcp' && !taken.has(tool.name))];
  }
}
