import type { Tool } from '../../agent/tool.ts';
import type { HostTool, HostToolResult, HostToolUpdate } from '../../protocol/generated/vocabulary.ts';
import { clash, type Definition, definitionsOf } from './definition.ts';
import { HostCalls } from './host-calls.ts';
import type { ToolHost } from './tool-host.ts';

/** Tools that clients run for the agent. They outlive a change of session. */
export class HostTools {
  readonly #sets = new Map<ToolHost, readonly Definition[]>();
  readonly #calls = new HostCalls();

  /**
   * Puts these in the place of all that this client had; answers their names. What clients had that can no longer be
   * heard goes with it.
   */
  set(host: ToolHost, tools: readonly HostTool[], isTaken: (name: string) => boolean): string[] {
    const definitions = definitionsOf(tools);
    const names = definitions.map(({ name }) => name);
    const others = [...this.#sets].filter(([other]) => other !== host && !other.isDeaf);
    const taken = new Set(others.flatMap(([, set]) => set.map(({ name }) => name)));
    const clashing = names.find((name) => taken.has(name) || isTaken(name));
    if (clashing !== undefined) throw clash(clashing);
    for (const other of this.#sets.keys()) if (other.isDeaf) this.#sets.delete(other);
    this.#sets.set(host, definitions);
    return names;
  }

  get tools(): readonly Tool[] {
    return [...this.#sets].flatMap(([host, set]) => set.map((definition) => this.#toolOf(definition, host)));
  }

  isHidden(name: string): boolean {
    return [...this.#sets.values()].flat().some((definition) => definition.name === name && definition.hidden);
  }

  take(frame: HostToolUpdate | HostToolResult, from: ToolHost): void {
    if (frame.type === 'host_tool_update') this.#calls.update(frame, from);
    else this.#calls.end(frame, from);
  }

  /** A result that cannot be understood fails its call. */
  broken(id: string, problem: string, from: ToolHost): void {
    this.#calls.break(id, problem, from);
  }

  /** A client can no longer be heard. */
  left(host: ToolHost): void {
    this.#calls.left(host);
  }

  #toolOf(definition: Definition, host: ToolHost): Tool {
    const { name, description, parameters } = definition;
    return { name, description, parameters, execute: (call) => this.#calls.run(host, definition, call) };
  }
}
