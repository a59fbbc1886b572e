import type { EventSourceMessage } from 'eventsource-parser';
import type { ModelRequest } from '../../request.ts';
import { anthropicBody, headersFor } from '../anthropic/body.ts';
import { parseEventData } from '../stream-decoder.ts';

/** The body of Anthropic's API as Bedrock requires it: the model is in the path, betas are in the body. */
export function claudeBody(request: ModelRequest): object {
  const whole = anthropicBody(request);
  const { model: _model, stream: _stream, ...body } = whole;
  const betas = headersFor(undefined, whole)['anthropic-beta'];
  return {
    anthropic_version: 'bedrock-2023-05-31',
    ...(betas === undefined ? {} : { anthropic_beta: betas.split(',') }),
    ...body,
  };
}

/** The events of Anthropic's API inside those of Bedrock. */
export async function* claudeEvents(frames: AsyncIterable<EventSourceMessage>): AsyncGenerator<{ data: string }> {
  for await (const { event, data } of frames) {
    const { bytes } = event === 'chunk' ? parseEventData<{ bytes?: unknown }>({ data }) : {};
    if (typeof bytes === 'string') yield { data: Buffer.from(bytes, 'base64').toString() };
  }
}
