import type { MessageStep } from '../draft.ts';
import { ModelFailure, type UsageUpdate } from '../request.ts';

/** Decodes the events of one model response into steps. */
export interface StreamDecoder {
  readonly decode: (data: string) => Iterable<MessageStep | UsageUpdate>;
  /** Whether the response is complete. */
  readonly isDone: boolean;
}

/** Decodes a stream to its end. Failures after a complete response do not matter. */
export async function* decodeToEnd(events: AsyncIterable<{ readonly data: string }>, decoder: StreamDecoder) {
  try {
    for await (const { data } of events) for (const step of decoder.decode(data)) yield step;
  } catch (error) {
    if (!decoder.isDone) throw error;
  }
  if (!decoder.isDone) throw new ModelFailure('connection_lost', 'The stream ended before the answer did');
}
