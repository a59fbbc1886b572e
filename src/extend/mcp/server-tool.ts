import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import { type Tool, type ToolInvocation, textOutput } from '../../agent/tool.ts';
import type { RemoteTool } from './tool-list.ts';
import { parseToolResult } from './tool-output.ts';

/** What it takes to call a tool of a server. */
export type CallTool = (
  tool: string,
  invocation: Pick<ToolInvocation, 'args' | 'signal'> & { readonly onProgress: (progress: Progress) => void },
) => Promise<unknown>;

/** A tool of a server as the model is offered it. Its arguments are checked by the server, which knows its schemas best. */
export const serverTool = (name: string, remote: RemoteTool, call: CallTool): Tool => ({
  name,
  description: remote.description || remote.name,
  parameters: remote.parameters,
  validationSchema: { type: 'object' },
  execute: async ({ args, signal, update }) => {
    const onProgress = (progress: Progress) => update(textOutput(progressText(progress)));
    return parseToolResult(await call(remote.name, { args, signal, onProgress }));
  },
});

function progressText({ progress, total, message }: Progress): string {
  const count = total === undefined ? String(progress) : `${progress}/${total}`;
  return message ? `${message} (${count})` : count;
}
