import type { Progress } from '@modelcontextprotocol/client';
import { type Tool, type ToolInvocation, textOutput } from '../../../agent/tool.ts';
import { argumentCheck } from '../../argument-check.ts';
import type { RemoteTool } from './tool-list.ts';
import { parseToolResult } from './tool-output.ts';

/** Calls a tool of a server; resolves with the result in the server's form. */
export type CallTool = (
  tool: RemoteTool,
  invocation: Pick<ToolInvocation, 'args' | 'signal'> & { readonly onProgress: (progress: Partial<Progress>) => void },
) => Promise<unknown>;

/** The model's view of a server's tool. */
export const serverTool = (
  name: string,
  remote: RemoteTool,
  { call, warn }: { readonly call: CallTool; readonly warn: (text: string) => void },
): Tool => ({
  name,
  description: remote.description || remote.name,
  parameters: remote.parameters,
  findProblem: argumentCheck({ name, schema: remote.inputSchema, warn }),
  execute: async ({ args, signal, update }) => {
    const onProgress = (progress: Partial<Progress>) => update(textOutput(progressText(progress)));
    return parseToolResult(await call(remote, { args, signal, onProgress }));
  },
});

function progressText({ progress, total, message }: Partial<Progress>): string {
  if (progress === undefined) return message ?? '';
  const count = total === undefined ? String(progress) : `${progress}/${total}`;
  return message ? `${message} (${count})` : count;
}

// The limit that every provider accepts.
const MAX_TOOL_NAME_LENGTH = 64;

/** The name under which a model calls a server's tool. A taken name gets a number. */
export function toolName(server: string, tool: string, isTaken: (name: string) => boolean): string {
  const plain = `${server}__${tool}`.replaceAll(/[^A-Za-z0-9_-]/g, '_').replace(/^[^A-Za-z_]/, '_$&');
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : `_${number}`;
    const name = plain.slice(0, MAX_TOOL_NAME_LENGTH - suffix.length) + suffix;
    if (!isTaken(name)) return name;
  }
}
