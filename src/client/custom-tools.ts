import { messageOf } from '../protocol/errors.ts';
import type { AgentEvent, Frame, HostTool, HostToolCallEvent, ToolOutput } from '../protocol/generated/vocabulary.ts';

/** The output of a custom tool, which this program runs for the agent: text, or content blocks with details. */
export type CustomToolOutput = string | ToolOutput;

/** Passed to `execute` for each tool call. */
export interface CustomToolCall {
  readonly toolCallId: string;
  /** Aborts when the result is no longer needed. */
  readonly signal: AbortSignal;
  /** Replaces the progress shown so far; does nothing after the call has ended. */
  readonly update: (output: CustomToolOutput) => void;
}

/** A tool that your program runs for the agent. The message of an error that it throws is its result. */
export interface CustomTool extends HostTool {
  execute(args: Record<string, unknown>, call: CustomToolCall): CustomToolOutput | Promise<CustomToolOutput>;
}

type ToolSet = ReadonlyMap<string, CustomTool>;

/** Runs the registered tools when the agent calls them. */
export class CustomTools {
  readonly #send: (frame: Frame) => void;
  /** The registered set, and behind it the sets whose registration is pending. */
  #sets: readonly ToolSet[] = [];
  /** The definitions that the agent accepted last. */
  #registered: readonly HostTool[] | undefined;
  readonly #running = new Map<string, AbortController>();

  constructor(send: (frame: Frame) => void) {
    this.#send = send;
  }

  /** Replaces all tools once these are registered; a failed registration changes nothing. */
  async set<T>(tools: readonly CustomTool[], register: (definitions: HostTool[]) => Promise<T>): Promise<T> {
    const set: ToolSet = new Map(tools.map((tool) => [tool.name.trim(), tool]));
    this.#sets = [...this.#sets, set];
    try {
      const definitions = tools.map(definitionOf);
      const result = await register(definitions);
      this.#registered = definitions;
      this.#sets = this.#sets.slice(this.#sets.indexOf(set));
      return result;
    } catch (error) {
      this.#sets = this.#sets.filter((other) => other !== set);
      throw error;
    }
  }

  /** Registers the current tools again, for a connection that has none registered. */
  reregister(register: (definitions: readonly HostTool[]) => void): void {
    if (this.#registered && this.#registered.length > 0) register(this.#registered);
  }

  handleEvent(event: AgentEvent): void {
    if (event.type === 'host_tool_call' && this.#sets.length > 0) void this.#run(event);
    if (event.type === 'host_tool_cancel') this.#abort(event.targetId);
  }

  abortAll(reason: Error): void {
    for (const id of [...this.#running.keys()]) this.#abort(id, reason);
  }

  async #run({ id, toolCallId, toolName, arguments: args }: HostToolCallEvent): Promise<void> {
    const controller = new AbortController();
    this.#running.set(id, controller);
    const update = (output: CustomToolOutput) => {
      if (this.#running.has(id)) this.#send({ type: 'host_tool_update', id, partialResult: toToolOutput(output) });
    };
    try {
      const tool = this.#sets.findLast((set) => set.has(toolName))?.get(toolName);
      if (!tool) throw new Error(`Host tool "${toolName}" is not registered`);
      const output = await tool.execute(args, { toolCallId, signal: controller.signal, update });
      if (this.#running.has(id)) this.#send({ type: 'host_tool_result', id, result: toToolOutput(output) });
    } catch (error) {
      const result = toToolOutput(messageOf(error));
      if (this.#running.has(id)) this.#send({ type: 'host_tool_result', id, result, isError: true });
    } finally {
      this.#running.delete(id);
    }
  }

  #abort(id: string, reason?: Error): void {
    const controller = this.#running.get(id);
    this.#running.delete(id);
    controller?.abort(reason);
  }
}

const definitionOf = ({ name, label, description, parameters, hidden, timeoutMs }: CustomTool): HostTool => ({
  name,
  label,
  description,
  parameters,
  hidden,
  timeoutMs,
});

const toToolOutput = (output: CustomToolOutput): ToolOutput =>
  typeof output === 'string' ? { content: [{ type: 'text', text: output }] } : output;
