import type { ModelCost, Usage } from '../../protocol/generated/vocabulary.ts';
import { countCharacters, tokensForCharacters } from '../token-estimate.ts';
import { pricedUsage } from '../priced-usage.ts';
import type { ModelRequest, ToolSpec } from '../request.ts';
import type { TokenCounts } from './step.ts';

/** Adds the total and the cost to token counts. */
export const scriptedUsage = ({ input = 0, output = 0, ...cached }: TokenCounts, cost: ModelCost): Usage =>
  pricedUsage({ cost }, { input, output, ...cached });

/** Estimates the usage of a response from the lengths of request and response. */
export function estimatedUsage(request: ModelRequest, charactersWritten: number): Usage {
  const messageCharacters = sum(request.messages, ({ content }) => countCharacters(content));
  const inputCharacters = messageCharacters + sum(request.tools, toolLength) + request.systemPrompt.length;
  return scriptedUsage({ input: tokensForCharacters(inputCharacters), output: tokensForCharacters(charactersWritten) }, request.model.cost);
}

const toolLength = ({ name, description, parameters }: ToolSpec): number =>
  name.length + description.length + JSON.stringify(parameters).length;

const sum = <Item>(items: readonly Item[], measure: (item: Item) => number): number =>
  items.reduce((total, item) => total + measure(item), 0);
