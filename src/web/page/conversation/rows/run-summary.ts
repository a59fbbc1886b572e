import { failureOf, stateOf } from '../../../message/tools/tool-use.ts';
import { asNumber, asObject, asObjects, asText, type Untyped } from '../../../untyped.ts';
import type { MessageRow } from './rows.ts';

/** The steps of a run in numbers. */
export interface RunSummary {
  readonly steps: number;
  /** Zero if the times are unknown. */
  readonly durationMs: number;
  readonly changedFiles: number;
  /** Steps without success: how they ended, and how many. */
  readonly failures: ReadonlyMap<string, number>;
}

const CHANGING_TOOLS: ReadonlySet<string> = new Set(['edit', 'write']);

/** Counts the tool calls of rows. `last` is the message after them. */
export function summarizeRun(rows: readonly MessageRow[], last: MessageRow): RunSummary {
  const steps = rows.flatMap(stepsOf);
  const failures = new Map<string, number>();
  const files = new Set<string>();
  for (const { name, call, ending } of steps) {
    if (ending !== undefined) failures.set(ending, (failures.get(ending) ?? 0) + 1);
    else if (CHANGING_TOOLS.has(name)) files.add(asText(call['path']));
  }
  const durationMs = asNumber(last.message?.timestamp) - asNumber(rows[0]?.message?.timestamp);
  return { steps: steps.length, durationMs, changedFiles: files.size, failures };
}

interface Step {
  readonly name: string;
  readonly call: Untyped;
  /** Undefined after a success. */
  readonly ending: string | undefined;
}

/** Returns the tool calls of a row; a result without its call counts as one. */
function stepsOf({ message, results }: MessageRow): Step[] {
  if (message?.role === 'toolResult') return [{ name: message.toolName, call: {}, ending: endingOf(message) }];
  if (message?.role !== 'assistant') return [];
  return asObjects(message.content).flatMap((block) =>
    block['type'] === 'toolCall'
      ? {
          name: asText(block['name']),
          call: asObject(block['arguments']),
          ending: endingOf(results.get(asText(block['id']))),
        }
      : [],
  );
}

function endingOf(message: object | undefined): string | undefined {
  const result = message && asObject(message);
  const state = stateOf({ result });
  if (state === 'done') return undefined;
  if (state === 'unanswered') return 'without a result';
  return failureOf({ result }) ?? state;
}
