import { chunk } from './completions.ts';
import type { Api, ModelReply } from './provider-double.ts';

/** The chat API of Mistral: thinking arrives as parts of the content, usage in the last chunk. */
export const mistralApi: Api = {
  name: 'mistral-conversations',
  encode: (reply) => [
    ...deltasOf(reply).map((delta) => chunk({ choices: [{ index: 0, delta, finish_reason: null }] })),
    closing(reply),
    { data: '[DONE]' },
  ],
  errorBody: ({ message = 'Refused' }) => JSON.stringify({ object: 'error', message, type: 'invalid_request_error' }),
};

function deltasOf({ thinking, text, calls = [] }: ModelReply): object[] {
  return [
    { role: 'assistant', content: '' },
    ...(thinking === undefined
      ? []
      : [{ content: [{ type: 'thinking', thinking: [{ type: 'text', text: thinking }], closed: true }] }]),
    ...(text === undefined ? [] : [{ content: text }]),
    ...calls.map(({ id, name, arguments: values }, index) => ({
      tool_calls: [{ id, index, function: { name, arguments: JSON.stringify(values) } }],
    })),
  ];
}

function closing({ calls, usage: { input = 1, output = 1 } = { input: 1, output: 1 } }: ModelReply) {
  const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  return chunk({
    choices: [{ index: 0, delta: { content: '' }, finish_reason: calls ? 'tool_calls' : 'stop' }],
    usage,
  });
}

const acceptedFields = new Set([
  'model',
  'messages',
  'stream',
  'max_tokens',
  'tools',
  'tool_choice',
  'reasoning_effort',
  'prompt_mode',
  'prompt_cache_key',
]);

interface MistralBody {
  readonly messages: readonly {
    readonly role: string;
    readonly tool_call_id?: string;
    readonly tool_calls?: readonly { readonly id: string }[];
  }[];
}

/** Why Mistral would reject this request; undefined if it would not. */
export function mistralProblem(body: MistralBody): string | undefined {
  const extra = Object.keys(body).find((name) => !acceptedFields.has(name));
  if (extra !== undefined) return `Extra inputs are not permitted: ${extra}`;
  const called = body.messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
  const answered = body.messages.flatMap(({ tool_call_id: id }) => id ?? []);
  const odd = [...called, ...answered].find((id) => !/^[a-zA-Z0-9]{9}$/.test(id));
  if (odd !== undefined) return `Tool call id was ${odd} but must be a-z, A-Z, 0-9, with a length of 9`;
  if (new Set(called).size !== called.length) return 'Duplicate tool call id in assistant message';
  if (answered.some((id) => !called.includes(id))) return 'Unexpected tool call id in tool results';
  const isOutOfOrder = body.messages.some(
    ({ role }, index) => role === 'user' && body.messages[index - 1]?.role === 'tool',
  );
  return isOutOfOrder ? "Unexpected role 'user' after role 'tool'" : undefined;
}
