import { messageOf } from '../../../protocol/errors.ts';
import { MAX_MESSAGE_BYTES } from './message-lines.ts';

/** A longer response, or a stream of more events, closes the connection. */
export const MAX_RESPONSE_BYTES = 128 * 1024 * 1024;
const MAX_RESPONSE_EVENTS = 100_000;

const LF = 10;
const CR = 13;

/** Limits the size of each message in a response: a longer one fails its body. */
export function limitMessageSize(response: Response, onError: (error: unknown) => void): Response {
  const isStream = response.headers.get('content-type')?.includes('text/event-stream') ?? false;
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let size = 0;
  let newlines = 0;
  let total = 0;
  let events = 0;
  const measure = (bytes: Uint8Array) => {
    total += bytes.length;
    if (events > MAX_RESPONSE_EVENTS) throw new Error(`sent more than ${MAX_RESPONSE_EVENTS} events in one response`);
    if (total > MAX_RESPONSE_BYTES) throw new Error(`sent more than ${MAX_RESPONSE_BYTES} bytes in one response`);
    if (!isStream) size += bytes.length;
    else {
      for (const byte of bytes) {
        if (byte !== CR) newlines = byte === LF ? newlines + 1 : 0;
        size = newlines > 1 ? 0 : size + 1;
        if (newlines === 2 && byte === LF) events++;
      }
    }
    if (size > MAX_MESSAGE_BYTES) throw new Error(`sent more than ${MAX_MESSAGE_BYTES} bytes in one message`);
  };
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (isCancelled) return;
        if (done) return controller.close();
        measure(value);
        controller.enqueue(value);
      } catch (error) {
        if (isCancelled) return;
        onError(error);
        controller.error(error);
        await reader.cancel().catch(() => {});
      }
    },
    cancel: (reason) => {
      isCancelled = true;
      return reader.cancel(reason);
    },
  });
  return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
}

/** The reason of a failed `fetch`, which it stores in `cause`. */
export function causeOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  if (!(cause instanceof Error)) return messageOf(error);
  return cause.message || ((cause as NodeJS.ErrnoException).code ?? messageOf(error));
}
