import { textOf } from '../../fields.ts';
import { type Usage, usageOf } from '../../usage.ts';
import type { Entry } from './session.ts';

export interface Totals extends Usage {
  readonly models: readonly string[];
  readonly questions: number;
  readonly answers: number;
  readonly toolCalls: number;
  readonly branches: number;
}

/** What a session comes to, all its branches together: that is what was paid for. */
export function totalsOf(entries: readonly Entry[]): Totals {
  const sum = { input: 0, output: 0, cached: 0, cost: 0 };
  const models = new Set<string>();
  const count = (kind: string) => entries.reduce((total, entry) => total + (entry.kind === kind ? 1 : 0), 0);
  for (const { kind, message, fields } of entries) {
    const usage = usageOf(message['usage'] ?? fields['usage']);
    sum.input += usage.input;
    sum.output += usage.output;
    sum.cached += usage.cached;
    sum.cost += usage.cost;
    if (kind === 'assistant') models.add(textOf(message['model']));
  }
  models.delete('');
  return {
    ...sum,
    models: [...models],
    questions: count('user'),
    answers: count('assistant'),
    toolCalls: count('toolResult'),
    branches: entries.reduce((ends, { children }) => ends + (children.length === 0 ? 1 : 0), 0),
  };
}
