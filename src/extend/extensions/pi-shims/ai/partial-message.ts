import type { MessageStep } from '../../../../model/draft.ts';
import type { AssistantBlock, AssistantMessage } from '../../../../protocol/generated/vocabulary.ts';

/** Applies one streaming step to a partial message in place, so that every reader of the message sees it. */
export function applyStep({ content }: AssistantMessage, step: MessageStep): void {
  const at = step.contentIndex;
  switch (step.type) {
    case 'text_start':
      content[at] = { type: 'text', text: '' };
      return;
    case 'text_delta':
      content[at] = { type: 'text', text: textSoFar(content[at]) + step.delta };
      return;
    case 'text_end':
      content[at] = { type: 'text', text: step.content };
      return;
    case 'thinking_start':
      content[at] = { type: 'thinking', thinking: '' };
      return;
    case 'thinking_delta':
      content[at] = { type: 'thinking', thinking: textSoFar(content[at]) + step.delta };
      return;
    case 'thinking_end':
      content[at] = { type: 'thinking', thinking: step.content };
      return;
    case 'toolcall_start':
      content[at] = { type: 'toolCall', id: step.id, name: step.toolName, arguments: {} };
      return;
    case 'toolcall_end':
      content[at] = step.toolCall;
      return;
    default:
      // Partial JSON is not parsed.
      step.type satisfies 'toolcall_delta';
  }
}

const textSoFar = (block: AssistantBlock | undefined): string =>
  block?.type === 'text' ? block.text : block?.type === 'thinking' ? block.thinking : '';
