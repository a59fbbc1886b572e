import type { ModelCost, Usage } from '../../protocol/generated/vocabulary.ts';
import { charactersIn, tokensIn } from '../estimate.ts';
import { usageOf } from '../price.ts';
import type { ModelRequest, ToolSpec } from '../request.ts';
import type { TokenCounts } from './step.ts';

/** Adds the sum and the price to token counts. */
export const priced = ({ input = 0, output = 0, ...cached }: TokenCounts, cost: ModelCost): Usage =>
  usageOf({ cost }, { input, output, ...cached });

/** Guesses the usage of an answer from the lengths of the request and of what was written. */
export function estimated(request: ModelRequest, charactersWritten: number): Usage {
  const said = sum(request.messages, ({ content }) => charactersIn(content));
  const asked = said + sum(request.tools, toolLength) + request.systemPrompt.length;
  return priced({ input: tokensIn(asked), output: tokensIn(charactersWritten) }, request.model.cost);
}

const toolLength = ({ name, description, parameters }: ToolSpec): number =>
  name.length + description.length + JSON.stringify(parameters).length;

const sum = <Item>(items: readonly Item[], measure: (item: Item) => number): number =>
  items.reduce((total, item) => total + measure(item), 0);
