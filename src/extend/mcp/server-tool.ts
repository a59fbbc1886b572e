import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import { type Tool, type ToolInvocation, textOutput } from '../../agent/tool.ts';
import type { RemoteTool } from './tool-list.ts';
import { parseToolResult } from './tool-output.ts';

// Calls a tool of the server.
export type CallTool = (
  tool: string,
  invocation: Pick<ToolInvocation, 'args' | 'signal'> & { readonly onProgress: (progress: Progress) => void },
) => Promise<unknown>;

// The model's view of a server's tool. The server validates the arguments.
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
