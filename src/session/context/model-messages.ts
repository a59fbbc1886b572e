import { isFailedOrAborted, toolCallsOf } from '../../agent/tool-calls.ts';
import type { ModelMessage } from '../../model/request.ts';
import { bytesForTokens, countBytes, tokensForBytes } from '../../model/token-estimate.ts';
import type {
  AgentMessage,
  BashExecutionMessage,
  ContentBlock,
  ToolResultMessage,
  UserMessage,
} from '../../protocol/generated/vocabulary.ts';

/** Converts the conversation to the three roles of model APIs. Every tool call is followed by a result. */
export function modelMessages(messages: readonly AgentMessage[]): ModelMessage[] {
  const result: ModelMessage[] = [];
  for (const message of messages) {
    const converted = asModelMessage(message);
    if (converted) result.push(converted);
  }
  addMissingResults(result);
  return result;
}

function asModelMessage(message: AgentMessage): ModelMessage | undefined {
  switch (message.role) {
    case 'user':
    case 'toolResult':
      return message;
    case 'assistant':
      return isFailedOrAborted(message) ? undefined : message;
    case 'bashExecution':
      return message.excludeFromContext ? undefined : userText(bashText(message), message.timestamp);
    case 'custom':
      return { role: 'user', content: message.content, timestamp: message.timestamp };
    case 'branchSummary':
      return userText(summary('This is what happened on a branch that was left:', message.summary), message.timestamp);
    case 'compactionSummary':
      return userText(summary('This is a summary of the conversation so far:', message.summary), message.timestamp);
    default:
      return message satisfies never;
  }
}

const userText = (text: string, timestamp: number): UserMessage => ({
  role: 'user',
  content: [{ type: 'text', text }],
  timestamp,
});

const summary = (introduction: string, text: string) => `${introduction}\n\n<summary>\n${text}\n</summary>`;

function bashText(run: BashExecutionMessage): string {
  const output = run.output ? `\`\`\`\n${run.output}\n\`\`\`` : '(no output)';
  const failed = run.exitCode !== undefined && run.exitCode !== null && run.exitCode !== 0;
  const ending = run.cancelled
    ? '\n\n(command cancelled)'
    : failed
      ? `\n\nCommand exited with code ${run.exitCode}`
      : '';
  const cut = run.truncated && run.fullOutputPath ? `\n\n[Output truncated. Full output: ${run.fullOutputPath}]` : '';
  return `Ran \`${run.command}\`\n${output}${ending}${cut}`;
}

/** Inserts an error result after each call without one. */
function addMissingResults(messages: ModelMessage[]): void {
  // Call ids may repeat in a later assistant message: only results before the next one count.
  const resultIds = new Set<string>();
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at];
    if (message?.role === 'toolResult') resultIds.add(message.toolCallId);
    else if (message?.role === 'assistant') {
      const missing = toolCallsOf(message).filter((call) => !resultIds.has(call.id));
      if (missing.length > 0)
        messages.splice(at + 1, 0, ...missing.map((call) => missingResult(call, message.timestamp)));
      resultIds.clear();
    }
  }
}

/** Stands for a result that a crash lost. The call is never repeated: it may have run in part. */
export const missingResult = (call: { id: string; name: string }, timestamp: number): ToolResultMessage => ({
  role: 'toolResult',
  toolCallId: call.id,
  toolName: call.name,
  content: [{ type: 'text', text: 'No result: the agent was stopped while this tool ran. It may have run in part.' }],
  details: { interrupted: true },
  isError: true,
  timestamp,
});

// Longest text as a share of the usable context. Few steps, because a text that changes costs the provider's cache.
const SHARES = [1 / 2, 1 / 4, 1 / 8] as const;
const SMALLEST_SHARE = 1 / 8;

/** Tokens that a request may have, and those of its system prompt and tools. */
export interface RequestRoom {
  readonly usable: number;
  readonly overhead: number;
}

/**
 * Shortens long texts of users and tools if the request has more tokens than are usable; the largest of `SHARES` that
 * makes it fit applies, else the smallest. A request that fits, and messages below the smallest share, stay unchanged.
 */
export function fitMessages(
  messages: readonly ModelMessage[],
  { usable, overhead }: RequestRoom,
): readonly ModelMessage[] {
  const maxBytes = (share: number) => Math.floor(bytesForTokens(usable * share));
  const shortest = maxBytes(SMALLEST_SHARE);
  if (!messages.some((message) => textBytes(message) > shortest)) return messages;
  let fitted = messages;
  for (const share of SHARES) {
    if (overhead + tokensOf(fitted) <= usable) return fitted;
    fitted = messages.map((message) => shortenMessage(message, maxBytes(share)));
  }
  return fitted;
}

const tokensOf = (messages: readonly ModelMessage[]): number =>
  tokensForBytes(messages.reduce((sum, { content }) => sum + countBytes(content), 0));

/** The bytes of the texts that can be shortened. */
function textBytes({ role, content }: ModelMessage): number {
  if (role === 'assistant') return 0;
  if (typeof content === 'string') return countBytes(content);
  return content.reduce((sum, block) => sum + (block.type === 'text' ? countBytes(block.text) : 0), 0);
}

function shortenMessage<M extends ModelMessage>(message: M, maxBytes: number): M {
  const bytes = textBytes(message);
  if (bytes <= maxBytes) return message;
  const shorten = (text: string) => shortenText(text, Math.floor(text.length * (maxBytes / bytes)));
  const { content } = message;
  if (typeof content === 'string') return { ...message, content: shorten(content) };
  return {
    ...message,
    content: (content as ContentBlock[]).map((block) =>
      block.type === 'text' ? { ...block, text: shorten(block.text) } : block,
    ),
  };
}

/** Keeps the beginning and the end, without half a character, and reports in between how much is missing. */
function shortenText(text: string, maxLength: number): string {
  const half = Math.floor(maxLength / 2);
  const head = text.slice(0, half).replace(/[\uD800-\uDBFF]$/, '');
  const tail = text.slice(text.length - half).replace(/^[\uDC00-\uDFFF]/, '');
  const missing = text.length - head.length - tail.length;
  return `${head}\n\n[… ${missing} of ${text.length} characters left out: they do not fit into the context …]\n\n${tail}`;
}
