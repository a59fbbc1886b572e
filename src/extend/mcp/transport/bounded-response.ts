import { messageOf } from '../../../protocol/errors.ts';
import { MAX_MESSAGE_BYTES } from './message-lines.ts';

// Limits of an event stream, which may last as long as the session. More closes the connection.
const STREAM_PERIOD_MS = 60_000;
const MAX_STREAM_BYTES = 128 * 1024 * 1024;
const MAX_STREAM_EVENTS = 100_000;

const LF = 10;
const CR = 13;

/** Limits the size of each message in a response, and how much an event stream sends per minute: more fails the body. */
export function limitMessageSize(response: Response, onError: (error: unknown) => void): Response {
  const isStream = response.headers.get('content-type')?.includes('text/event-stream') ?? false;
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const meter = isStream ? new EventMeter() : new MessageMeter();
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (isCancelled) return;
        if (done) return controller.close();
        meter.measure(value);
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

/** Limits one message. */
class MessageMeter {
  #size = 0;

  measure({ length }: Uint8Array): void {
    this.#size += length;
    checkMessageSize(this.#size);
  }
}

/** Limits the size of each event, and bytes and events per minute. */
class EventMeter {
  #size = 0;
  #newlines = 0;
  #lastByte = 0;
  #startedAt = performance.now();
  #bytes = 0;
  #events = 0;

  measure(bytes: Uint8Array): void {
    const now = performance.now();
    if (now - this.#startedAt >= STREAM_PERIOD_MS) {
      this.#startedAt = now;
      this.#bytes = 0;
      this.#events = 0;
    }
    this.#bytes += bytes.length;
    this.#measureEvents(bytes);
    checkMessageSize(this.#size);
    if (this.#events > MAX_STREAM_EVENTS) throw new Error(`sent more than ${MAX_STREAM_EVENTS} events in one minute`);
    if (this.#bytes > MAX_STREAM_BYTES) throw new Error(`sent more than ${MAX_STREAM_BYTES} bytes in one minute`);
  }

  /** A blank line ends an event. Lines end with LF, CR or both. */
  #measureEvents(bytes: Uint8Array): void {
    let [size, newlines, lastByte] = [this.#size, this.#newlines, this.#lastByte];
    // An iterator or fields would make this loop four times slower.
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index] as number;
      const isLineEnd = byte === CR || (byte === LF && lastByte !== CR);
      if (isLineEnd) newlines++;
      else if (byte !== LF) newlines = 0;
      lastByte = byte;
      size = newlines > 1 ? 0 : size + 1;
      if (isLineEnd && newlines === 2) this.#events++;
    }
    [this.#size, this.#newlines, this.#lastByte] = [size, newlines, lastByte];
  }
}

function checkMessageSize(size: number): void {
  if (size > MAX_MESSAGE_BYTES) throw new Error(`sent more than ${MAX_MESSAGE_BYTES} bytes in one message`);
}

/** The reason of a failed `fetch`, which it stores in `cause`. */
export function causeOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  if (!(cause instanceof Error)) return messageOf(error);
  return cause.message || ((cause as NodeJS.ErrnoException).code ?? messageOf(error));
}
