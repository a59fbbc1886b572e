import type { Tool } from '../../agent/tool.ts';
import type { HostTool, HostToolResult, HostToolUpdate } from '../../protocol/generated/vocabulary.ts';
import { argumentCheck } from '../argument-check.ts';
import { type HostToolDefinition, nameConflict, parseDefinitions } from './definition.ts';
import { HostCalls, type ToolHost } from './host-calls.ts';

/** The tools that clients run for the agent. They outlive a session change. */
export class HostTools {
  readonly #sets = new Map<ToolHost, readonly HostToolDefinition[]>();
  readonly #calls = new HostCalls();
  readonly #warn: (text: string) => void;

  constructor(warn: (text: string) => void) {
    this.#warn = warn;
  }

  /** Replaces all tools of this client and returns their names. Tools of disconnected clients are removed. */
  set(host: ToolHost, tools: readonly HostTool[], isTaken: (name: string) => boolean): string[] {
    const definitions = parseDefinitions(tools);
    const names = definitions.map(({ name }) => name);
    const others = [...this.#sets].filter(([other]) => other !== host && !other.inputClosed);
    const taken = new Set(others.flatMap(([, set]) => set.map(({ name }) => name)));
    const clashing = names.find((name) => taken.has(name) || isTaken(name));
    if (clashing !== undefined) throw nameConflict(clashing);
    for (const other of this.#sets.keys()) if (other.inputClosed) this.#sets.delete(other);
    this.#sets.set(host, definitions);
    return names;
  }

  get tools(): readonly Tool[] {
    return [...this.#sets].flatMap(([host, set]) => set.map((definition) => this.#toolOf(definition, host)));
  }

  isHidden(name: string): boolean {
    return [...this.#sets.values()].flat().some((definition) => definition.name === name && definition.hidden);
  }

  handleFrame(frame: HostToolUpdate | HostToolResult, from: ToolHost): void {
    if (frame.type === 'host_tool_update') this.#calls.update(frame, from);
    else this.#calls.end(frame, from);
  }

  /** A malformed result fails its call. */
  failMalformed(id: string, problem: string, from: ToolHost): void {
    this.#calls.failMalformed(id, problem, from);
  }

  /** Fails the pending calls of a client that can no longer respond. */
  hostDisconnected(host: ToolHost): void {
    this.#calls.hostDisconnected(host);
  }

  #toolOf(definition: HostToolDefinition, host: ToolHost): Tool {
    const { name, description, parameters } = definition;
    const findProblem = argumentCheck({ name, schema: parameters, warn: this.#warn });
    return { name, description, parameters, findProblem, execute: (call) => this.#calls.run(host, definition, call) };
  }
}
