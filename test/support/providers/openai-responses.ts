import type { Api, ModelReply, PlainResponse, SentEvent } from './provider-double.ts';

const RESPONSE = { id: 'resp_1', object: 'response', created_at: 1, model: 'double-2025-01-01' };

/** OpenAI's Responses API: streamed responses of a model. */
export const responsesApi: Api = {
  name: 'openai-responses',
  encode: (reply) => numbered([...openingEvents(), ...itemsOf(reply).flatMap(itemEvents), closingEvent(reply)]),
  errorBody: ({ status, message = 'Refused' }: PlainResponse) =>
    JSON.stringify({ error: { message, type: status < 500 ? 'invalid_request_error' : 'server_error', code: null } }),
};

export interface ResponsesEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Server-sent events with type and sequence number. */
export const numbered = (events: readonly ResponsesEvent[]): SentEvent[] =>
  events.map((event, index) => ({ event: event.type, data: JSON.stringify({ ...event, sequence_number: index }) }));

const openingEvents = () =>
  ['response.created', 'response.in_progress'].map((type) => ({
    type,
    response: { ...RESPONSE, status: 'in_progress', output: [], usage: null },
  }));

/** An output item with the events between its start and its end. */
interface Item {
  readonly item: object;
  readonly opening: object;
  readonly deltas: readonly ResponsesEvent[];
}

function itemsOf({ thinking, text, calls = [] }: ModelReply): Item[] {
  return [
    ...(thinking === undefined ? [] : [reasoning(thinking)]),
    ...(text === undefined ? [] : [message(text)]),
    ...calls.map(functionCall),
  ];
}

const wordsOf = (text: string) => text.match(/\S+\s*|\s+/g) ?? [];

function reasoning(text: string): Item {
  const id = 'rs_1';
  const summary = text.split('\n\n').map((part) => ({ type: 'summary_text', text: part }));
  const deltas = summary.flatMap((part, summary_index) => {
    const position = { item_id: id, summary_index };
    return [
      { type: 'response.reasoning_summary_part.added', ...position, part: { type: 'summary_text', text: '' } },
      ...wordsOf(part.text).map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...position, delta })),
      { type: 'response.reasoning_summary_text.done', ...position, text: part.text },
      { type: 'response.reasoning_summary_part.done', ...position, part },
    ];
  });
  const item = { id, type: 'reasoning', summary, encrypted_content: 'secret' };
  return { item, opening: { summary: [], encrypted_content: '' }, deltas };
}

function message(text: string): Item {
  const id = 'msg_1';
  const part = { type: 'output_text', annotations: [], text };
  const position = { item_id: id, content_index: 0 };
  const item = { id, type: 'message', status: 'completed', role: 'assistant', content: [part] };
  const deltas = [
    { type: 'response.content_part.added', ...position, part: { ...part, text: '' } },
    ...wordsOf(text).map((delta) => ({ type: 'response.output_text.delta', ...position, delta })),
    { type: 'response.output_text.done', ...position, text },
    { type: 'response.content_part.done', ...position, part },
  ];
  return { item, opening: { status: 'in_progress', content: [] }, deltas };
}

function functionCall({ id: call_id, name, arguments: values }: { id: string; name: string; arguments: object }): Item {
  const id = `fc_${call_id}`;
  const json = JSON.stringify(values);
  const item = { id, type: 'function_call', status: 'completed', arguments: json, call_id, name };
  const deltas = [
    ...(json.match(/.{1,6}/gsu) ?? []).map((delta) => ({
      type: 'response.function_call_arguments.delta',
      item_id: id,
      delta,
    })),
    { type: 'response.function_call_arguments.done', item_id: id, arguments: json },
  ];
  return { item, opening: { status: 'in_progress', arguments: '' }, deltas };
}

const itemEvents = ({ item, opening, deltas }: Item, output_index: number): ResponsesEvent[] => [
  { type: 'response.output_item.added', output_index, item: { ...item, ...opening } },
  ...deltas.map((delta) => ({ ...delta, output_index })),
  { type: 'response.output_item.done', output_index, item },
];

function closingEvent(reply: ModelReply): ResponsesEvent {
  const { error } = reply;
  if (error) return { type: 'error', code: error.type, message: error.message, param: null };
  const isCut = reply.stop === 'length';
  const status = isCut ? 'incomplete' : 'completed';
  const response = {
    ...RESPONSE,
    status,
    error: null,
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    output: itemsOf(reply).map(({ item }) => item),
    usage: usage(reply),
  };
  return { type: `response.${status}`, response };
}

function usage({ usage: counts, thinking }: ModelReply) {
  const { input = 10, output = 5, cacheRead = 0 } = counts ?? {};
  return {
    input_tokens: input + cacheRead,
    input_tokens_details: { cached_tokens: cacheRead },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: thinking === undefined ? 0 : 2 },
    total_tokens: input + cacheRead + output,
  };
}
