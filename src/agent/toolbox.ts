import { Refusal } from '../protocol/errors.ts';
import type { ToolInfo } from '../protocol/generated/vocabulary.ts';
import type { Tool } from './tool.ts';
import { chooseTools, type ToolChoice } from './tool-choice.ts';

export type ToolSource = ToolInfo['source'];

/** Every tool there is, and which of them the model is offered. It outlives a change of session. */
export class Toolbox {
  readonly #tools = new Map<ToolSource, readonly Tool[]>();
  readonly #offers = new Map<string, () => boolean>();
  #active: ReadonlySet<string>;
  /** What may offer itself: nobody has chosen otherwise. */
  #free: ReadonlySet<string>;
  /** Words of the choice that mean no tool. */
  readonly unknown: readonly string[];

  constructor(builtins: readonly Tool[], choice: ToolChoice) {
    this.#tools.set('builtin', builtins);
    const names = builtins.map(({ name }) => name);
    const { chosen, unknown } = chooseTools(names, choice);
    this.#active = new Set(chosen);
    this.#free = new Set(chooseTools(names, choice, names).chosen);
    this.unknown = unknown;
  }

  /** What the model is offered, in the order of the tools. */
  get active(): readonly Tool[] {
    return this.#all.filter(({ name }) => this.#isActive(name));
  }

  get activeNames(): string[] {
    return this.active.map(({ name }) => name);
  }

  /** Puts tools in the place of all others from there. What was active by name stays so. */
  put(source: ToolSource, tools: readonly Tool[]): void {
    this.#tools.set(source, tools);
  }

  /** Offers a tool by itself as long as this holds, until somebody chooses tools by name. */
  offerWhile(name: string, isWanted: () => boolean): void {
    this.#offers.set(name, isWanted);
  }

  /** Offers these and no others. */
  activate(names: readonly string[]): void {
    const known = new Set(this.#all.map(({ name }) => name));
    const unknown = names.filter((name) => !known.has(name));
    if (unknown.length > 0) throw new Refusal('not_found', `No such tool: ${unknown.join(', ')}`);
    this.#active = new Set(names);
    this.#free = new Set();
  }

  describe(): ToolInfo[] {
    return [...this.#tools].flatMap(([source, tools]) =>
      tools.map(({ name, description, parameters }) => {
        return { name, description, parameters: { ...parameters }, active: this.#isActive(name), source };
      }),
    );
  }

  #isActive(name: string): boolean {
    return this.#active.has(name) || (this.#free.has(name) && this.#offers.get(name)?.() === true);
  }

  get #all(): Tool[] {
    return [...this.#tools.values()].flat();
  }
}
