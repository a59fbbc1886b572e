import type { Api, ModelReply, PlainResponse, SentEvent } from './provider-double.ts';

/** The Messages API of Anthropic: named events, one block after another, usage at both ends. */
export const anthropicApi: Api = {
  name: 'anthropic-messages',
  encode: (reply) => [...openingEvents(reply), ...blocksOf(reply).flatMap(blockEvents), ...closingEvents(reply)],
  errorBody: ({ status, message = 'Something is wrong' }) =>
    JSON.stringify({ type: 'error', error: { type: errorTypes[status] ?? 'api_error', message }, request_id: 'req_1' }),
};

/** Signature of thinking blocks. */
export const SIGNATURE = 'EqQBCgIYAhIM';

/** A server-sent event named after the type of its data. */
export const anthropicEvent = (data: { type: string } & Record<string, unknown>): SentEvent => ({
  event: data.type,
  data: JSON.stringify(data),
});

/** A response that streams exactly these events. */
export const streamOf = (...events: readonly SentEvent[]): PlainResponse => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream; charset=utf-8' },
  body: events.map(({ event, data }) => `event: ${event}\ndata: ${data}\n\n`).join(''),
});

const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

export function openingEvents({ usage = { input: 10, output: 5 } }: ModelReply): SentEvent[] {
  return [
    anthropicEvent({
      type: 'message_start',
      message: {
        id: 'msg_01',
        type: 'message',
        role: 'assistant',
        model: 'claude-test-20260101',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: {
          input_tokens: usage.input,
          cache_creation_input_tokens: usage.cacheWrite ?? 0,
          cache_read_input_tokens: usage.cacheRead ?? 0,
          output_tokens: 1,
          service_tier: 'standard',
        },
      },
    }),
    anthropicEvent({ type: 'ping' }),
  ];
}

interface Block {
  readonly start: object;
  readonly deltas: readonly object[];
}

function blocksOf({ thinking, text, calls = [] }: ModelReply): Block[] {
  return [
    ...(thinking === undefined ? [] : [thinkingBlock(thinking)]),
    ...(text === undefined ? [] : [textBlock(text)]),
    ...calls.map(({ id, name, arguments: values }) => ({
      start: { type: 'tool_use', id, name, input: {} },
      // The real API sends an empty piece first.
      deltas: ['', ...halves(JSON.stringify(values))].map((piece) => ({
        type: 'input_json_delta',
        partial_json: piece,
      })),
    })),
  ];
}

const textBlock = (text: string): Block => ({
  start: { type: 'text', text: '' },
  deltas: halves(text).map((piece) => ({ type: 'text_delta', text: piece })),
});

const thinkingBlock = (thinking: string): Block => ({
  start: { type: 'thinking', thinking: '', signature: '' },
  deltas: [
    ...halves(thinking).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
    { type: 'signature_delta', signature: SIGNATURE },
  ],
});

/** Splits a text into two pieces without splitting a character. */
function halves(text: string): string[] {
  const characters = [...text];
  const middle = Math.ceil(characters.length / 2);
  return [characters.slice(0, middle).join(''), characters.slice(middle).join('')].filter((half) => half !== '');
}

const blockEvents = ({ start, deltas }: Block, index: number): SentEvent[] => [
  anthropicEvent({ type: 'content_block_start', index, content_block: start }),
  ...deltas.map((delta) => anthropicEvent({ type: 'content_block_delta', index, delta })),
  anthropicEvent({ type: 'content_block_stop', index }),
];

const stopReasons = { stop: 'end_turn', length: 'max_tokens', toolUse: 'tool_use' } as const;

function closingEvents({ stop, calls = [], usage = { input: 10, output: 5 }, error }: ModelReply): SentEvent[] {
  if (error) return [anthropicEvent({ type: 'error', error })];
  const reason = stopReasons[stop ?? (calls.length > 0 ? 'toolUse' : 'stop')];
  return [
    anthropicEvent({
      type: 'message_delta',
      delta: { stop_reason: reason, stop_sequence: null },
      usage: { output_tokens: usage.output },
    }),
    anthropicEvent({ type: 'message_stop' }),
  ];
}
