import type { Peer, WireRecord } from '../clients/peer.ts';

/** The example tool of the xcsh reference. */
export const echoHostTool = {
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

/** A tool that accepts any arguments. */
export const hostTool = (name: string, more: object = {}) => ({
  name,
  description: `The tool ${name}`,
  parameters: { type: 'object', properties: {} },
  ...more,
});

/** A script step in which the model calls a tool. */
export const toolCallStep = (name: string, args: object = {}, id?: string) => ({
  toolCall: { name, arguments: args, ...(id === undefined ? {} : { id }) },
});

export const setHostTools = (peer: Peer, ...tools: object[]) => peer.ok({ type: 'set_host_tools', tools });

export const textContent = (content: string) => [{ type: 'text', text: content }];

/** Sends the result of a host tool call. */
export function sendToolResult(
  peer: Peer,
  { id }: Readonly<Record<string, unknown>>,
  content: string,
  more: object = {},
): void {
  peer.send({ type: 'host_tool_result', id, result: { content: textContent(content) }, ...more });
}

/** Outcomes of all tool calls in these records. */
export const toolEnds = (records: readonly WireRecord[]) =>
  records.flatMap(({ type, toolCallId, isError, result }) => {
    if (type !== 'tool_execution_end') return [];
    const { content, details } = result as { content: { text?: string }[]; details?: unknown };
    return [{ toolCallId, isError, text: content.map((block) => block.text).join(''), details }];
  });

/** Tool result texts that the model received, in order. */
export const toolResultTexts = (records: readonly WireRecord[]) =>
  records.flatMap(({ type, toolResults }) =>
    type === 'turn_end'
      ? (toolResults as { content: { text: string }[] }[]).map(({ content }) => content[0]?.text)
      : [],
  );
