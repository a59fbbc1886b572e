import type { Api, Refusal, Reply, SentEvent } from './double.ts';

/** The Messages API of Anthropic: named events, one block after another, usage at both ends. */
export const anthropicApi: Api = {
  name: 'anthropic-messages',
  speak: (reply) => [...opening(reply), ...blocksOf(reply).flatMap(blockEvents), ...ending(reply)],
  errorBody: ({ status, message = 'Something is wrong' }) =>
    JSON.stringify({ type: 'error', error: { type: errorTypes[status] ?? 'api_error', message }, request_id: 'req_1' }),
};

/** The seal on thoughts. */
export const SIGNATURE = 'EqQBCgIYAhIM';

/** An event as it is sent: its name is the type of its data. */
export const sent = (data: { type: string } & Record<string, unknown>): SentEvent => ({
  event: data.type,
  data: JSON.stringify(data),
});

/** A stream of any events at all, as a turn of the double. */
export const stream = (...events: readonly SentEvent[]): Refusal => ({
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

export function opening({ usage = { input: 10, output: 5 } }: Reply): SentEvent[] {
  return [
    sent({
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
    sent({ type: 'ping' }),
  ];
}

interface Block {
  readonly start: object;
  readonly deltas: readonly object[];
}

function blocksOf({ thinking, text, calls = [] }: Reply): Block[] {
  return [
    ...(thinking === undefined ? [] : [thought(thinking)]),
    ...(text === undefined ? [] : [words(text)]),
    ...calls.map(({ id, name, arguments: values }) => ({
      start: { type: 'tool_use', id, name, input: {} },
      // The real API begins with an empty piece.
      deltas: ['', ...halves(JSON.stringify(values))].map((piece) => ({
        type: 'input_json_delta',
        partial_json: piece,
      })),
    })),
  ];
}

const words = (text: string): Block => ({
  start: { type: 'text', text: '' },
  deltas: halves(text).map((piece) => ({ type: 'text_delta', text: piece })),
});

const thought = (thinking: string): Block => ({
  start: { type: 'thinking', thinking: '', signature: '' },
  deltas: [
    ...halves(thinking).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
    { type: 'signature_delta', signature: SIGNATURE },
  ],
});

/** In two pieces, without cutting a character. */
function halves(text: string): string[] {
  const characters = [...text];
  const middle = Math.ceil(characters.length / 2);
  return [characters.slice(0, middle).join(''), characters.slice(middle).join('')].filter((half) => half !== '');
}

const blockEvents = ({ start, deltas }: Block, index: number): SentEvent[] => [
  sent({ type: 'content_block_start', index, content_block: start }),
  ...deltas.map((delta) => sent({ type: 'content_block_delta', index, delta })),
  sent({ type: 'content_block_stop', index }),
];

const stopReasons = { stop: 'end_turn', length: 'max_tokens', toolUse: 'tool_use' } as const;

function ending({ stop, calls = [], usage = { input: 10, output: 5 }, error }: Reply): SentEvent[] {
  if (error) return [sent({ type: 'error', error })];
  const reason = stopReasons[stop ?? (calls.length > 0 ? 'toolUse' : 'stop')];
  return [
    sent({
      type: 'message_delta',
      delta: { stop_reason: reason, stop_sequence: null },
      usage: { output_tokens: usage.output },
    }),
    sent({ type: 'message_stop' }),
  ];
}
