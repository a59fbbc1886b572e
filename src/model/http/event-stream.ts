import type { IncomingMessage } from 'node:http';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Endpoint } from '../endpoint.ts';
import { redactFailure } from '../keys/redact-errors.ts';
import { ModelFailure, type ModelRequest } from '../request.ts';
import { connectionFailure, readErrorResponse } from './error-response.ts';
import { finalBody } from './payload.ts';
import { decodedBody } from './response.ts';
import { postSigned, type RequestSigner } from './signed-post.ts';
import { StallTimer } from './stall-timer.ts';
import { observedHeaders, redactedEvent, redactedResponse } from './wire-observation.ts';

/** A request whose response is a stream of events. */
export interface EventStreamRequest {
  readonly endpoint: Endpoint;
  /** Is appended to the base URL; begins with a slash. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
  readonly request: Pick<ModelRequest, 'onPayload' | 'wire' | 'onOpen' | 'signal'>;
  /** True once the response is complete: then the server gets only a moment to end the stream. */
  readonly isDone: () => boolean;
  /** Is omitted where the headers already hold the key. */
  readonly signer?: RequestSigner | undefined;
  /** The form of the stream; by default server-sent events. */
  readonly framing?: Framing;
}

/** Cuts the bytes of a response into events. */
export interface Framing {
  readonly accept: string;
  /** Returns the events that are complete after these bytes. Throws `ModelFailure` if they are damaged. */
  readonly feed: (bytes: Buffer) => Iterable<EventSourceMessage>;
  /** Returns the events that the end of the stream completes, also after an interruption; not after a failed `feed`. */
  readonly end?: () => Iterable<EventSourceMessage>;
}

// A server gets this long to end a complete stream. Only an ended connection can be reused.
const STREAM_END_MS = 1000;

const MAX_EVENT_BYTES = 64 * 1024 * 1024;

/**
 * Posts a request and yields the events of the response. Throws `ModelFailure` if the server rejects it, or if the
 * connection fails or stalls.
 */
export async function* streamEvents(call: EventStreamRequest): AsyncGenerator<EventSourceMessage> {
  const { endpoint, path, signer, framing = serverSentEvents(), isDone, request } = call;
  const { signal, wire = {} } = request;
  const url = endpoint.baseUrl + path;
  const own = { 'content-type': 'application/json', accept: framing.accept, 'accept-encoding': 'identity' };
  const headers = await observedHeaders(mergeHeaders({ ...own, ...call.headers }, endpoint.headers), wire);
  const body = JSON.stringify(await finalBody(call.body, request));
  // The request may have been aborted meanwhile.
  signal.throwIfAborted();
  const stallTimer = new StallTimer(endpoint.timeouts, signal);
  let response: IncomingMessage | undefined;
  try {
    const sent = await postSigned({ url, headers, body }, { endpoint, signer, stallTimer });
    response = sent.response;
    const signed = Object.values(sent.signed);
    const secrets = [endpoint.apiKey ?? '', ...Object.values(endpoint.headers), ...signed];
    if (wire.onResponse) await stallTimer.pauseDuring(wire.onResponse(redactedResponse(response, secrets)));
    if (!isEventStream(response)) throw redactFailure(await readErrorResponse(response), signed);
    request.onOpen?.();
    for await (const event of parseEvents(response, stallTimer, { framing, isDone })) {
      const seen = wire.onStreamEvent && redactedEvent(event.data, secrets);
      if (seen) await wire.onStreamEvent?.(seen);
      yield event;
    }
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
  { framing, isDone }: Required<Pick<EventStreamRequest, 'framing' | 'isDone'>>,
): AsyncGenerator<EventSourceMessage> {
  let failure: unknown;
  try {
    for await (const bytes of await decodedBody(response)) {
      stallTimer.onData();
      // Time that the consumer takes is not the server's.
      stallTimer.setCounting(false);
      yield* framing.feed(bytes);
      stallTimer.setCounting(true);
      if (isDone()) stallTimer.startEndTimeout(STREAM_END_MS);
    }
  } catch (error) {
    failure = error;
  }
  // Damaged events have no end.
  if (framing.end && !(failure instanceof ModelFailure)) yield* framing.end();
  if (failure !== undefined) throw failure;
}

function serverSentEvents(): Framing {
  const received: EventSourceMessage[] = [];
  const parser = createParser({
    onEvent: (event) => received.push(event),
    onError: ({ type, field, value = '' }) => {
      // llama.cpp reports failures in a field of this name.
      if (type === 'unknown-field' && field === 'error') received.push({ id: undefined, event: 'error', data: value });
      if (type !== 'max-buffer-size-exceeded') return;
      throw new ModelFailure('model_error', `An event of the stream is longer than ${MAX_EVENT_BYTES} bytes`);
    },
    maxBufferSize: MAX_EVENT_BYTES,
  });
  const decoder = new TextDecoder();
  return {
    accept: 'text/event-stream',
    feed(bytes) {
      parser.feed(decoder.decode(bytes, { stream: true }));
      return received.splice(0);
    },
    end() {
      // The last event may lack its blank line. Half of an event counts as lost.
      parser.feed('\n\n');
      return received.splice(0).filter(({ event, data }) => event === 'error' || isWhole(data));
    },
  };
}

function isWhole(data: string): boolean {
  if (data === '[DONE]') return true;
  try {
    JSON.parse(data);
    return true;
  } catch {
    return false;
  }
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
