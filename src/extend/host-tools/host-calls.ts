import { ToolError, type ToolInvocation, type ToolOutput } from '../../agent/tool.ts';
import type { HostToolResult, HostToolUpdate } from '../../protocol/generated/vocabulary.ts';
import { newUuid } from '../../store/sessions/random-id.ts';
import type { Definition } from './definition.ts';
import { failureOutput, imageProblemIn, plainOutput } from './output.ts';
import type { ToolHost } from './tool-host.ts';

const GONE = 'RPC client disconnected before host tool execution completed';

/** A call that the host has not answered. */
interface OpenCall {
  readonly host: ToolHost;
  readonly toolName: string;
  readonly update: ToolInvocation['update'];
  readonly succeed: (output: ToolOutput) => void;
  readonly fail: (error: Error) => void;
}

/** The calls that hosts work on. Every one of them ends, also when its host says nothing. */
export class HostCalls {
  readonly #open = new Map<string, OpenCall>();

  run(host: ToolHost, { name, timeoutMs }: Definition, call: ToolInvocation): Promise<ToolOutput> {
    if (host.isDeaf) return Promise.reject(new Error(GONE));
    const id = newUuid();
    const { toolCallId, args, signal, update } = call;
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
        this.#open.delete(id);
      };
      const fail = (error: Error) => {
        end();
        reject(error);
      };
      const callOff = (reason: string) => {
        fail(new Error(reason));
        host.tell({ type: 'host_tool_cancel', id: newUuid(), targetId: id });
      };
      const stop = () => callOff(`Host tool "${name}" was aborted`);
      const timer = setTimeout(() => callOff(`Host tool "${name}" did not answer within ${timeoutMs} ms`), timeoutMs);
      const succeed = (output: ToolOutput) => {
        end();
        resolve(output);
      };
      signal.addEventListener('abort', stop, { once: true });
      this.#open.set(id, { host, toolName: name, update, succeed, fail });
      host.tell({ type: 'host_tool_call', id, toolCallId, toolName: name, arguments: { ...args } });
    });
  }

  update({ id, partialResult }: HostToolUpdate, from: ToolHost): void {
    this.#askedOf(from, id)?.update(plainOutput(partialResult));
  }

  end({ id, result, isError = false }: HostToolResult, from: ToolHost): void {
    const problem = imageProblemIn(result);
    const call = this.#askedOf(from, id);
    if (problem) this.break(id, problem, from);
    else if (isError) call?.fail(new ToolError(failureOutput(result)));
    else call?.succeed(plainOutput(result));
  }

  /** The host has answered, but nobody can tell what. */
  break(id: string, problem: string, from: ToolHost): void {
    const call = this.#askedOf(from, id);
    call?.fail(new Error(`Host tool "${call.toolName}" gave a result that cannot be used: ${problem}`));
  }

  left(host: ToolHost): void {
    for (const call of [...this.#open.values()]) if (call.host === host) call.fail(new Error(GONE));
  }

  /** The call with this id, if it is open and this is the host that was asked. */
  #askedOf(host: ToolHost, id: string): OpenCall | undefined {
    const call = this.#open.get(id);
    return call?.host === host ? call : undefined;
  }
}
