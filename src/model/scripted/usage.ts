import type { AssistantBlock, ContentBlock, ModelCost, Usage } from '../../protocol/generated/vocabulary.ts';
import { usageOf } from '../price.ts';
import type { ModelMessage, ModelRequest, ToolSpec } from '../request.ts';
import type { TokenCounts } from './step.ts';

const CHARACTERS_PER_TOKEN = 4;
// An image costs by its area, not by its bytes; this is about what a screenshot takes.
const CHARACTERS_PER_IMAGE = 4_800;

/** Adds the sum and the price to token counts. */
export const priced = ({ input = 0, output = 0, ...cached }: TokenCounts, cost: ModelCost): Usage =>
  usageOf({ cost }, { input, output, ...cached });

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
