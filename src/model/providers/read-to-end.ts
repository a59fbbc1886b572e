import type { Step } from '../draft.ts';
import { ModelFailure, type UsageNews } from '../request.ts';

/** Makes sense of what the events of one answer carry. */
export interface Reader {
  readonly read: (data: string) => Iterable<Step | UsageNews>;
  /** Whether the answer is whole. */
  readonly isDone: boolean;
}

/** Hears a stream to its end. What goes wrong once the answer is whole does not matter any more. */
export async function* readToEnd(events: AsyncIterable<{ readonly data: string }>, reader: Reader) {
  try {
    for await (const { data } of events) for (const step of reader.read(data)) yield step;
  } catch (error) {
    if (!reader.isDone) throw error;
  }
  if (!reader.isDone) throw new ModelFailure('connection_lost', 'The stream ended before the answer did');
}
