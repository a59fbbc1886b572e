import type { MessageStep } from '../draft.ts';
import { ModelFailure, type UsageUpdate } from '../request.ts';

/** Makes sense of what the events of one answer carry. */
export interface StreamDecoder {
  readonly decode: (data: string) => Iterable<MessageStep | UsageUpdate>;
  /** Whether the answer is whole. */
  readonly isDone: boolean;
}

/** Hears a stream to its end. What goes wrong once the answer is whole does not matter any more. */
export async function* decodeToEnd(events: AsyncIterable<{ readonly data: string }>, decoder: StreamDecoder) {
  try {
    for await (const { data } of events) for (const step of decoder.decode(data)) yield step;
  } catch (error) {
    if (!decoder.isDone) throw error;
  }
  if (!decoder.isDone) throw new ModelFailure('connection_lost', 'The stream ended before the answer did');
}
