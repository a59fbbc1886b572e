import type { IncomingMessage } from 'node:http';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Endpoint } from '../endpoint.ts';
import { ModelFailure, type ModelRequest } from '../request.ts';
import { decodedBody } from './response.ts';
import { connectionFailure, readErrorResponse } from './error-response.ts';
import { finalBody } from './payload.ts';
import { post } from './post.ts';
import { StallTimer } from './stall-timer.ts';

/** A request to a provider. */
export interface EventStreamRequest {
  readonly endpoint: Endpoint;
  /** Behind the base URL, beginning with a slash. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
  readonly request: Pick<ModelRequest, 'onPayload' | 'signal'>;
  /** Whether everything that matters was said: a server that does not end its stream then is not waited for. */
  readonly isDone: () => boolean;
}

/** How long a server may take to end a stream that has said everything. Only one that has ended serves again. */
const STREAM_END_MS = 1000;

/** One event of a stream may not be longer than this. */
const MAX_EVENT_BYTES = 64 * 1024 * 1024;

/**
 * Posts a request and hears what the server says to it. Throws `ModelFailure` for whatever the server refuses, and for
 * a connection that cannot be made, breaks, or falls silent.
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
    // What is left of an answer that nobody listens to any more costs money.
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
    // Whoever listens may take its time: only the server's silence counts.
    stallTimer.setCounting(false);
    for (const event of received.splice(0)) yield event;
    stallTimer.setCounting(true);
    if (isDone()) stallTimer.startEndTimeout(STREAM_END_MS);
  }
  // A line that ends in CR is not over until it is known what follows.
  if (last === '\r') parser.feed('\n');
  yield* received;
}

/** Some servers call their streams plain text, or nothing at all; a page or an object is none. */
const isEventStream = ({ statusCode = 0, headers }: IncomingMessage) =>
  statusCode >= 200 && statusCode < 300 && !/\b(?:html|json|xml)\b/i.test(headers['content-type'] ?? '');

/** Header names differ in case; what comes later wins. */
function mergeHeaders(...sets: readonly Readonly<Record<string, string>>[]): Record<string, string> {
  return Object.fromEntries(
    sets.flatMap((set) => Object.entries(set).map(([name, value]) => [name.toLowerCase(), value])),
  );
}
