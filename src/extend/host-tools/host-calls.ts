import { ToolError, type ToolInvocation, type ToolOutput } from '../../agent/tool.ts';
import type { HostToolResult, HostToolUpdate } from '../../protocol/generated/vocabulary.ts';
import { newUuid } from '../../store/sessions/random-id.ts';
import type { HostToolDefinition } from './definition.ts';
import { failureOutput, imageProblemIn, withKnownFields } from './output.ts';
import type { ToolHost } from './tool-host.ts';

const CLIENT_DISCONNECTED = 'RPC client disconnected before host tool execution completed';

// A call without a result.
interface PendingHostCall {
  readonly host: ToolHost;
  readonly toolName: string;
  readonly update: ToolInvocation['update'];
  readonly succeed: (output: ToolOutput) => void;
  readonly fail: (error: Error) => void;
}

/** The pending calls of host tools. Every call ends, even if its client never responds. */
export class HostCalls {
  readonly #pending = new Map<string, PendingHostCall>();

  run(host: ToolHost, { name, timeoutMs }: HostToolDefinition, call: ToolInvocation): Promise<ToolOutput> {
    if (host.inputClosed) return Promise.reject(new Error(CLIENT_DISCONNECTED));
    const id = newUuid();
    const { toolCallId, args, signal, update } = call;
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
        this.#pending.delete(id);
      };
      const fail = (error: Error) => {
        end();
        reject(error);
      };
      const cancel = (reason: string) => {
        fail(new Error(reason));
        host.send({ type: 'host_tool_cancel', id: newUuid(), targetId: id });
      };
      const stop = () => cancel(`Host tool "${name}" was aborted`);
      const timer = setTimeout(() => cancel(`Host tool "${name}" did not answer within ${timeoutMs} ms`), timeoutMs);
      const succeed = (output: ToolOutput) => {
        end();
        resolve(output);
      };
      signal.addEventListener('abort', stop, { once: true });
      this.#pending.set(id, { host, toolName: name, update, succeed, fail });
      host.send({ type: 'host_tool_call', id, toolCallId, toolName: name, arguments: { ...args } });
    });
  }

  update({ id, partialResult }: HostToolUpdate, from: ToolHost): void {
    this.#pendingCall(from, id)?.update(withKnownFields(partialResult));
  }

  end({ id, result, isError = false }: HostToolResult, from: ToolHost): void {
    const problem = imageProblemIn(result);
    const call = this.#pendingCall(from, id);
    if (problem) this.failMalformed(id, problem, from);
    else if (isError) call?.fail(new ToolError(failureOutput(result)));
    else call?.succeed(withKnownFields(result));
  }

  /** Fails the call of a malformed result. */
  failMalformed(id: string, problem: string, from: ToolHost): void {
    const call = this.#pendingCall(from, id);
    call?.fail(new Error(`Host tool "${call.toolName}" gave a result that cannot be used: ${problem}`));
  }

  hostDisconnected(host: ToolHost): void {
    for (const call of [...this.#pending.values()]) if (call.host === host) call.fail(new Error(CLIENT_DISCONNECTED));
  }

  // The pending call with this id, if it was sent to this client.
  #pendingCall(host: ToolHost, id: string): PendingHostCall | undefined {
    const call = this.#pending.get(id);
    return call?.host === host ? call : undefined;
  }
}
