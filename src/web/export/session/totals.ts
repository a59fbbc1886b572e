import { asText } from '../../untyped.ts';
import { type MessageUsage, readUsage } from '../../usage.ts';
import type { TreeEntry } from './exported-session.ts';

export interface SessionTotals extends MessageUsage {
  readonly models: readonly string[];
  readonly prompts: number;
  readonly responses: number;
  readonly toolCalls: number;
  readonly branches: number;
}

/** Sums up all branches, since all of them were paid for. */
export function totalsOf(entries: readonly TreeEntry[]): SessionTotals {
  const sum = { input: 0, output: 0, cached: 0, cost: 0 };
  const models = new Set<string>();
  const count = (kind: string) => entries.reduce((total, entry) => total + (entry.kind === kind ? 1 : 0), 0);
  for (const { kind, message, fields } of entries) {
    const usage = readUsage(message['usage'] ?? fields['usage']);
    sum.input += usage.input;
    sum.output += usage.output;
    sum.cached += usage.cached;
    sum.cost += usage.cost;
    if (kind === 'assistant') models.add(asText(message['model']));
  }
  models.delete('');
  return {
    ...sum,
    models: [...models],
    prompts: count('user'),
    responses: count('assistant'),
    toolCalls: count('toolResult'),
    branches: entries.reduce((ends, { children }) => ends + (children.length === 0 ? 1 : 0), 0),
  };
}
