import type { EventSourceMessage } from 'eventsource-parser';
import type { Model } from '../../../protocol/generated/vocabulary.ts';
import { readVariable } from '../../../store/config-value.ts';
import { awsSigner } from '../../clouds/aws-signer.ts';
import type { Environment } from '../../clouds/credential-cache.ts';
import type { ApiAdapter, Endpoint } from '../../endpoint.ts';
import { streamEvents } from '../../http/event-stream.ts';
import type { ModelRequest } from '../../request.ts';
import { anthropicBody, headersFor } from '../anthropic/body.ts';
import { AnthropicStreamDecoder } from '../anthropic/stream-decoder.ts';
import { type ApiRoute, bearerHeader } from '../api-route.ts';
import { decodeToEnd, parseEventData } from '../stream-decoder.ts';
import { converseBody } from './converse-body.ts';
import { ConverseStreamDecoder, typedEvents } from './converse-decoder.ts';
import { bedrockFraming } from './framing.ts';

/** The models of Amazon Bedrock: Claude by its own API, all others by Converse. */
export const bedrock: ApiAdapter = (endpoint) => (request, draft) => {
  const { model } = request;
  const call = (operation: string) => ({
    ...routeTo(endpoint, model, operation),
    request,
    framing: bedrockFraming(),
  });
  if (isClaude(model)) {
    const decoder = new AnthropicStreamDecoder(model, draft);
    const frames = streamEvents({
      ...call('invoke-with-response-stream'),
      body: claudeBody(request),
      isDone: () => decoder.isDone,
    });
    return decodeToEnd(claudeEvents(frames), decoder);
  }
  const decoder = new ConverseStreamDecoder(model, draft);
  const frames = streamEvents({
    ...call('converse-stream'),
    body: converseBody(request),
    isDone: () => decoder.isDone,
  });
  return decodeToEnd(typedEvents(frames), decoder);
};

// The id of an inference profile of the user's own does not name the model.
function isClaude({ id, compat }: Model): boolean {
  const { bedrockApi } = compat ?? {};
  return bedrockApi === 'invoke' || (bedrockApi !== 'converse' && /anthropic\.claude/.test(id));
}

/** The body of Anthropic's API as Bedrock requires it: the model is in the path, betas are in the body. */
function claudeBody(request: ModelRequest): object {
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
async function* claudeEvents(frames: AsyncIterable<EventSourceMessage>): AsyncGenerator<{ data: string }> {
  for await (const { event, data } of frames) {
    const { bytes } = event === 'chunk' ? parseEventData<{ bytes?: unknown }>({ data }) : {};
    if (typeof bytes === 'string') yield { data: Buffer.from(bytes, 'base64').toString() };
  }
}

function routeTo(endpoint: Endpoint, { id }: Model, operation: string): ApiRoute {
  const { apiKey, cloud } = endpoint;
  const env = cloud?.env ?? {};
  const region = regionOf(id, env);
  const baseUrl = endpoint.baseUrl || ownAddress(env) || `https://bedrock-runtime.${region}.${domainOf(region)}`;
  const isOpen = apiKey !== undefined || readVariable(env, 'AWS_BEDROCK_SKIP_AUTH') === '1';
  return {
    endpoint: { ...endpoint, baseUrl },
    path: `/model/${encodeURIComponent(id)}/${operation}`,
    headers: bearerHeader(apiKey),
    signer: isOpen || !cloud ? undefined : awsSigner(cloud, { region, service: 'bedrock' }),
  };
}

/** The region of a request: that of an ARN, else the one of the environment. */
export const regionOf = (id: string, env: Environment): string =>
  /^arn:[^:]*:bedrock:([^:]+):/.exec(id)?.[1] ??
  readVariable(env, 'AWS_REGION') ??
  readVariable(env, 'AWS_DEFAULT_REGION') ??
  'us-east-1';

const domainOf = (region: string) => (region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com');

const ownAddress = (env: Environment) =>
  (readVariable(env, 'AWS_ENDPOINT_URL_BEDROCK_RUNTIME') ?? readVariable(env, 'AWS_ENDPOINT_URL'))?.replace(/\/+$/, '');
