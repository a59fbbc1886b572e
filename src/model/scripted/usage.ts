import type { AssistantBlock, ContentBlock, ModelCost, Usage } from '../../protocol/generated/vocabulary.ts';
import type { ModelMessage, ModelRequest, ToolSpec } from '../request.ts';
import type { TokenCounts } from './step.ts';

const CHARACTERS_PER_TOKEN = 4;
// An image costs by its area, not by its bytes; this is about what a screenshot takes.
const CHARACTERS_PER_IMAGE = 4_800;

/** Adds the sum and the price to token counts. */
export function priced(tokens: TokenCounts, prices: ModelCost): Usage {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = tokens;
  const cost = {
    input: (input * prices.input) / 1e6,
    output: (output * prices.output) / 1e6,
    cacheRead: (cacheRead * prices.cacheRead) / 1e6,
    cacheWrite: (cacheWrite * prices.cacheWrite) / 1e6,
  };
  const total = cost.input + cost.output + cost.cacheRead + cost.cacheWrite;
  const totalTokens = input + output + cacheRead + cacheWrite;
  return { input, output, cacheRead, cacheWrite, totalTokens, cost: { ...cost, total } };
}

/** Guesses the usage of an answer from the lengths of the request and of what was written. */
export function estimated(request: ModelRequest, charactersWritten: number): Usage {
  const asked = sum(request.messages, lengthOf) + sum(request.tools, toolLength) + request.systemPrompt.length;
  return priced({ input: tokensOf(asked), output: tokensOf(charactersWritten) }, request.model.cost);
}

const tokensOf = (characters: number) => Math.ceil(characters / CHARACTERS_PER_TOKEN);

const lengthOf = ({ content }: ModelMessage): number =>
  typeof content === 'string' ? content.length : sum<AssistantBlock | ContentBlock>(content, blockLength);

function blockLength(block: AssistantBlock | ContentBlock): number {
  switch (block.type) {
    case 'text':
      return block.text.length;
    case 'thinking':
      return block.thinking.length;
    case 'toolCall':
      return block.name.length + JSON.stringify(block.arguments).length;
    case 'image':
      return CHARACTERS_PER_IMAGE;
  }
}

const toolLength = ({ name, description, parameters }: ToolSpec): number =>
  name.length + description.length + JSON.stringify(parameters).length;

const sum = <Item>(items: readonly Item[], measure: (item: Item) => number): number =>
  items.reduce((total, item) => total + measure(item), 0);
