import type { IncomingMessage } from 'node:http';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Endpoint } from '../endpoint.ts';
import { ModelFailure, type ModelRequest } from '../request.ts';
import { connectionFailure, readErrorResponse } from './error-response.ts';
import { finalBody } from './payload.ts';
import { post } from './post.ts';
import { decodedBody } from './response.ts';
import { StallTimer } from './stall-timer.ts';

/** A request whose response is a stream of server-sent events. */
export interface EventStreamRequest {
  readonly endpoint: Endpoint;
  /** Is appended to the base URL; begins with a slash. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
  readonly request: Pick<ModelRequest, 'onPayload' | 'signal'>;
  /** True once the response is complete: then the server gets only a moment to end the stream. */
  readonly isDone: () => boolean;
}

// A server gets this long to end a complete stream. Only an ended connection can be reused.
const STREAM_END_MS = 1000;

const MAX_EVENT_BYTES = 64 * 1024 * 1024;

/**
 * Posts a request and yields the events of the response. Throws `ModelFailure` if the server rejects it, or if the
 * connection fails or stalls.
 */
export async function* streamEvents(call: EventStreamRequest): AsyncGenerator<EventSourceMessage> {
  const { endpoint, path, headers, request } = call;
  const { signal } = request;
  const url = endpoint.baseUrl + path;
  const body = JSON.stringify(await finalBody(call.body, request));
  const stallTimer = new StallTimer(endpoint.timeouts, signal);
  let response: IncomingMessage | undefined;
  try {
    response = await post({
      url,
      headers: mergeHeaders(
        { 'content-type': 'application/json', accept: 'text/event-stream', 'accept-encoding': 'identity', ...headers },
        endpoint.headers,
      ),
      body,
      connectMs: endpoint.timeouts.connectMs,
      signal: stallTimer.signal,
    });
    if (!isEventStream(response)) throw await readErrorResponse(response);
    yield* parseEvents(response, stallTimer, call.isDone);
  } catch (error) {
    signal.throwIfAborted();
    throw stallTimer.failure ?? (error instanceof ModelFailure ? error : connectionFailure(error, url));
  } finally {
    stallTimer.stop();
    // The rest of an abandoned response costs money.
    response?.destroy();
  }
}

async function* parseEvents(
  response: IncomingMessage,
  stallTimer: StallTimer,
  isDone: () => boolean,
): AsyncGenerator<EventSourceMessage> {
  const received: EventSourceMessage[] = [];
  const parser = createParser({
    onEvent: (event) => received.push(event),
    onError: ({ type }) => {
      if (type !== 'max-buffer-size-exceeded') return;
      throw new ModelFailure('model_error', `An event of the stream is longer than ${MAX_EVENT_BYTES} bytes`);
    },
    maxBufferSize: MAX_EVENT_BYTES,
  });
  const decoder = new TextDecoder();
  let last = '';
  for await (const bytes of await decodedBody(response)) {
    stallTimer.onData();
    const text = decoder.decode(bytes, { stream: true });
    last = text.at(-1) ?? last;
    parser.feed(text);
    if (received.length === 0) continue;
    // Time that the consumer takes is not the server's.
    stallTimer.setCounting(false);
    for (const event of received.splice(0)) yield event;
    stallTimer.setCounting(true);
    if (isDone()) stallTimer.startEndTimeout(STREAM_END_MS);
  }
  // A line that ends in CR is complete only when the next character is known.
  if (last === '\r') parser.feed('\n');
  yield* received;
}

// Some servers label their streams as plain text or not at all; HTML, JSON and XML are never streams.
const isEventStream = ({ statusCode = 0, headers }: IncomingMessage) =>
  statusCode >= 200 && statusCode < 300 && !/\b(?:html|json|xml)\b/i.test(headers['content-type'] ?? '');

// Header names ignore case; later sets win.
function mergeHeaders(...sets: readonly Readonly<Record<string, string>>[]): Record<string, string> {
  return Object.fromEntries(
    sets.flatMap((set) => Object.entries(set).map(([name, value]) => [name.toLowerCase(), value])),
  );
}
