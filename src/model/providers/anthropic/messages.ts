import type {
  AssistantBlock,
  AssistantMessage,
  Model,
  ToolResultMessage,
} from '../../../protocol/generated/vocabulary.ts';
import { replayable } from '../../replay.ts';
import type { ModelMessage } from '../../request.ts';
import type { CacheMark } from './cache-mark.ts';
import { contentOf, type ImageBlock, type TextBlock, textOf } from './content.ts';
import { toolId } from './tool-id.ts';

/** A message as the API takes it. */
export type Turn =
  | { readonly role: 'user'; readonly content: readonly (UserBlock & CacheMark)[] }
  | { readonly role: 'assistant'; readonly content: readonly AnswerBlock[] };

type UserBlock = TextBlock | ImageBlock | ResultBlock;

interface ResultBlock {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: readonly (TextBlock | ImageBlock)[];
  readonly is_error?: true;
}

type AnswerBlock = TextBlock | ThoughtBlock | CallBlock;

type ThoughtBlock =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string };

interface CallBlock {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: object;
}

/** The conversation as the API takes it, the user first. */
export function turnsOf(messages: readonly ModelMessage[], model: Model): Turn[] {
  const turns: Turn[] = [];
  for (const message of replayable(messages, model, toolId)) {
    if (message.role === 'assistant') {
      const content = answerOf(message);
      if (content.length > 0) turns.push({ role: 'assistant', content });
    } else {
      const said = message.role === 'user' ? contentOf(message.content) : resultOf(message, turns);
      if (said.length > 0) addSaid(turns, said);
    }
  }
  return turns[0]?.role === 'user' ? turns : [beginning, ...turns];
}

const beginning: Turn = {
  role: 'user',
  content: [{ type: 'text', text: '(The beginning of the conversation is not shown.)' }],
};

/** What is said to the model between two answers is one turn, in which the results of its tools come first. */
function addSaid(turns: Turn[], said: readonly UserBlock[]): void {
  const last = turns.at(-1);
  if (last?.role === 'user') turns.pop();
  const before = last?.role === 'user' ? last.content : [];
  turns.push({ role: 'user', content: resultsFirst([...before, ...said]) });
}

const resultsFirst = (blocks: readonly UserBlock[]): UserBlock[] => [
  ...blocks.filter(isResult),
  ...blocks.filter((block) => !isResult(block)),
];

export const isResult = ({ type }: UserBlock): boolean => type === 'tool_result';

/** A result must answer a call of the answer before it, and be the only one that does. */
function resultOf({ toolCallId, content, isError }: ToolResultMessage, turns: readonly Turn[]): ResultBlock[] {
  const answer = turns.findLast(({ role }) => role === 'assistant');
  const said = turns.at(-1);
  const isCalled = answer?.content.some((block) => block.type === 'tool_use' && block.id === toolCallId);
  const isAnswered = said?.content.some((block) => block.type === 'tool_result' && block.tool_use_id === toolCallId);
  if (!isCalled || isAnswered) return [];
  const shown = contentOf(content);
  return [
    {
      type: 'tool_result',
      tool_use_id: toolCallId,
      content: shown.length > 0 ? shown : [{ type: 'text', text: '(no output)' }],
      ...(isError ? { is_error: true } : {}),
    },
  ];
}

/** An answer without the thoughts at its end, which came to nothing: the API refuses them there. */
function answerOf({ content }: AssistantMessage): AnswerBlock[] {
  const blocks = content.flatMap(answerBlock);
  return blocks.slice(0, blocks.findLastIndex((block) => !isThought(block)) + 1);
}

export const isThought = ({ type }: AnswerBlock): boolean => type === 'thinking' || type === 'redacted_thinking';

function answerBlock(block: AssistantBlock): AnswerBlock[] {
  switch (block.type) {
    case 'text':
      return textOf(block.text);
    case 'toolCall':
      return [{ type: 'tool_use', id: block.id, name: block.name, input: block.arguments }];
    case 'thinking': {
      const { thinking, thinkingSignature: signature, redacted } = block;
      if (!signature) return textOf(thinking);
      return [redacted ? { type: 'redacted_thinking', data: signature } : { type: 'thinking', thinking, signature }];
    }
    default:
      return block satisfies never;
  }
}
