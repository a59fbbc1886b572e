import { ToolError, type ToolInvocation, type ToolOutput, textOutput } from '../../agent/tool.ts';
import type {
  ContentBlock,
  HostToolCallEvent,
  HostToolCancelEvent,
  HostToolResult,
  HostToolUpdate,
} from '../../protocol/generated/vocabulary.ts';
import { imageProblem } from '../../session/input/input.ts';
import { newUuid } from '../../store/sessions/random-id.ts';
import type { HostToolDefinition } from './definition.ts';

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

  /** The pending call with this id, if it was sent to this client. */
  #pendingCall(host: ToolHost, id: string): PendingHostCall | undefined {
    const call = this.#pending.get(id);
    return call?.host === host ? call : undefined;
  }
}

// Removes unknown fields.
const withKnownFields = ({ content, details }: ToolOutput): ToolOutput => ({
  content: content.map(knownBlockFields),
  ...(details === undefined ? {} : { details }),
});

// A failure always has a text.
function failureOutput(output: ToolOutput): ToolOutput {
  const isBlank = output.content.every((block) => block.type === 'text' && block.text.trim() === '');
  return withKnownFields(isBlank ? { ...output, ...textOutput('Host tool execution failed') } : output);
}

// Why no model would accept this output.
function imageProblemIn({ content }: ToolOutput): string | undefined {
  for (const [index, block] of content.entries()) {
    const problem = block.type === 'image' ? imageProblem(block) : undefined;
    if (problem) return `result.content[${index}] ${problem}`;
  }
  return undefined;
}

const knownBlockFields = (block: ContentBlock): ContentBlock =>
  block.type === 'text'
    ? { type: 'text', text: block.text }
    : { type: 'image', data: block.data, mimeType: block.mimeType };

/** A client that runs host tools. */
export interface ToolHost {
  /** True if the client can no longer respond. */
  readonly inputClosed: boolean;
  send(event: HostToolCallEvent | HostToolCancelEvent): void;
}
