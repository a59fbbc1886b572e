import { isFailedOrAborted, toolCallsOf } from '../../agent/tool-calls.ts';
import type { ModelMessage } from '../../model/request.ts';
import type {
  AgentMessage,
  BashExecutionMessage,
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
  isError: true,
  timestamp,
});
