import { classifyFailure } from '../../classify-failure.ts';
import type { Framing } from '../../http/event-stream.ts';
import { ModelFailure } from '../../request.ts';
import { parseEventData } from '../stream-decoder.ts';
import { type EventFrame, frameReader } from './event-frames.ts';

/**
 * The form of Bedrock's streams, whose frames become events with a type and JSON. Exceptions of Bedrock in mid-stream are
 * thrown as `ModelFailure`, after the events before them.
 */
export function bedrockFraming(): Framing {
  const read = frameReader();
  return {
    accept: 'application/vnd.amazon.eventstream',
    *feed(bytes) {
      for (const { headers, payload } of read(bytes)) {
        const { ':message-type': kind, ':event-type': event = '' } = headers;
        if (kind !== 'event') throw exceptionFailure({ headers, payload });
        yield { id: undefined, event, data: payload };
      }
    },
  };
}

// The statuses that these exceptions have when they come before the stream.
const statuses: Readonly<Record<string, number>> = {
  internalServerException: 500,
  modelNotReadyException: 429,
  modelTimeoutException: 408,
  serviceUnavailableException: 503,
  throttlingException: 429,
  validationException: 400,
};

function exceptionFailure({ headers, payload }: EventFrame): ModelFailure {
  const type = headers[':exception-type'] ?? headers[':error-code'] ?? 'exception';
  const text = headers[':error-message'] ?? messageIn(payload);
  const name = type.charAt(0).toLowerCase() + type.slice(1);
  const message = `${text} (${type})`;
  if (name === 'modelStreamErrorException') return new ModelFailure('connection_lost', message);
  const status = Object.hasOwn(statuses, name) ? statuses[name] : undefined;
  return classifyFailure({ message, ...(status === undefined ? {} : { status }) });
}

function messageIn(payload: string): string {
  const { message, Message } =
    payload === '' ? {} : parseEventData<{ message?: unknown; Message?: unknown }>({ data: payload });
  const text = message ?? Message;
  return typeof text === 'string' && text !== '' ? text : 'Bedrock ended the response without a reason';
}
