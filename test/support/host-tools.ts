import type { Peer, Record_ } from './peer.ts';

/** The tool that the xcsh reference prints. */
export const echoHost = {
  name: 'echo_host',
  label: 'Echo Host',
  description: 'Echo a value from the embedding host',
  parameters: {
    type: 'object',
    properties: { message: { type: 'string' } },
    required: ['message'],
    additionalProperties: false,
  },
};

/** A tool that takes anything. */
export const hostTool = (name: string, more: object = {}) => ({
  name,
  description: `The tool ${name}`,
  parameters: { type: 'object', properties: {} },
  ...more,
});

/** A step of the scripted model that calls a tool. */
export const calls = (name: string, args: object = {}, id?: string) => ({
  toolCall: { name, arguments: args, ...(id === undefined ? {} : { id }) },
});

export const setTools = (peer: Peer, ...tools: object[]) => peer.ok({ type: 'set_host_tools', tools });

export const text = (words: string) => [{ type: 'text', text: words }];

/** Answers a call. */
export function answerCall(
  peer: Peer,
  { id }: Readonly<Record<string, unknown>>,
  words: string,
  more: object = {},
): void {
  peer.send({ type: 'host_tool_result', id, result: { content: text(words) }, ...more });
}

/** What the tools of these records came to. */
export const toolEnds = (records: readonly Record_[]) =>
  records.flatMap(({ type, toolCallId, isError, result }) => {
    if (type !== 'tool_execution_end') return [];
    const { content, details } = result as { content: { text?: string }[]; details?: unknown };
    return [{ toolCallId, isError, text: content.map((block) => block.text).join(''), details }];
  });

/** What the model was told of its calls, in order. */
export const toolTexts = (records: readonly Record_[]) =>
  records.flatMap(({ type, toolResults }) =>
    type === 'turn_end'
      ? (toolResults as { content: { text: string }[] }[]).map(({ content }) => content[0]?.text)
      : [],
  );
