import type { AgentMessage, AssistantMessage, ContentBlock, ToolCall } from '../../protocol/generated/vocabulary.ts';
import type { Printer } from './printer.ts';

/** Prints messages like live ones. Calls without a result are left to the events; `all` has the earlier calls. */
export function printHistory(messages: readonly AgentMessage[], printer: Printer, all = messages): void {
  const calls = new Map(all.flatMap(callsIn).map((call) => [call.id, call]));
  for (const message of messages) printMessage(message, calls, printer);
}

/** A user message in the form of the input line. */
export const quote = (text: string) => `› ${text.replaceAll('\n', '\n  ')}`;

/** The text of a message, with placeholders for images. */
export const textOfContent = (content: string | readonly ContentBlock[]): string =>
  typeof content === 'string'
    ? content
    : content.map((block) => (block.type === 'text' ? block.text : `[${block.mimeType}]`)).join('\n');

function printMessage(message: AgentMessage, calls: ReadonlyMap<string, ToolCall>, printer: Printer): void {
  switch (message.role) {
    case 'user':
      printer.note(quote(textOfContent(message.content)));
      break;
    case 'assistant':
      printAssistantMessage(message, printer);
      break;
    case 'toolResult': {
      const { toolCallId, toolName, content, isError } = message;
      const args = calls.get(toolCallId)?.arguments ?? {};
      printer.event({ type: 'tool_execution_start', toolCallId, toolName, args });
      printer.event({ type: 'tool_execution_end', toolCallId, toolName, result: { content }, isError });
      break;
    }
    case 'bashExecution':
      printer.note(`$ ${message.command}\n${message.output}`.trimEnd());
      break;
    case 'custom':
      if (message.display) printer.note(textOfContent(message.content));
      break;
    case 'branchSummary':
    case 'compactionSummary':
      printer.note('(Earlier messages are summarised for the model.)');
      break;
    default:
      message satisfies never;
  }
}

const callsIn = (message: AgentMessage) =>
  message.role === 'assistant' ? message.content.filter((block) => block.type === 'toolCall') : [];

function printAssistantMessage({ content, stopReason, errorMessage }: AssistantMessage, printer: Printer): void {
  for (const [contentIndex, block] of content.entries()) {
    if (block.type === 'text') {
      printer.step({ type: 'text_delta', contentIndex, delta: block.text });
      printer.step({ type: 'text_end', contentIndex, content: block.text });
    } else if (block.type === 'thinking') {
      printer.step({ type: 'thinking_delta', contentIndex, delta: block.thinking });
      printer.step({ type: 'thinking_end', contentIndex, content: block.thinking });
    }
  }
  if (stopReason === 'aborted') printer.note('(stopped)');
  if (stopReason === 'error') printer.failure(`(failed: ${errorMessage})`);
}
