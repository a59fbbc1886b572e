import { type Tool, ToolError, type ToolOutput, textOutput } from '../../agent/tool.ts';
import type { Schema } from '../../protocol/check.ts';
import { contextFor } from './context.ts';
import type { Extension } from './extension.ts';
import type { ToolAnswer, ToolDefinition } from './extension-api.ts';
import type { ExtensionHost } from './host.ts';

/** The tools of all extensions. The first of a name counts. */
export function toolsOf(extensions: readonly Extension[], host: ExtensionHost, prompt: () => string): Tool[] {
  const tools = new Map<string, Tool>();
  for (const { tools: own } of extensions) {
    for (const definition of own.values()) {
      if (!tools.has(definition.name)) tools.set(definition.name, toolFrom(definition, host, prompt));
    }
  }
  return [...tools.values()];
}

function toolFrom(definition: ToolDefinition, host: ExtensionHost, systemPrompt: () => string): Tool {
  const { name, description, parameters, promptSnippet, promptGuidelines, prepareArguments } = definition;
  return {
    name,
    description,
    parameters: parameters as Schema,
    ...(promptSnippet === undefined ? {} : { promptSnippet }),
    ...(promptGuidelines === undefined ? {} : { promptGuidelines }),
    ...(prepareArguments ? { prepareArguments: (args) => prepareArguments(args) as typeof args } : {}),
    execute: async ({ toolCallId, args, signal, update }) => {
      const ctx = contextFor(host, { systemPrompt });
      const onUpdate = (answer: ToolAnswer) => update(outputOf(answer));
      const answer = await definition.execute(toolCallId, structuredClone(args), signal, onUpdate, ctx);
      if (answer?.isError) throw new ToolError(outputOf(answer));
      return outputOf(answer);
    },
  };
}

/** What a tool answered, in the form that is sent and stored: other people's code may answer anything. */
function outputOf(answer: ToolAnswer | string | undefined): ToolOutput {
  if (typeof answer === 'string') return textOutput(answer);
  const content = Array.isArray(answer?.content) ? answer.content.flatMap(blockOf) : [];
  return { content, ...(answer?.details === undefined ? {} : { details: plain(answer.details) }) };
}

function blockOf(block: unknown): ToolOutput['content'] {
  const { type, text, data, mimeType } = (block ?? {}) as Record<string, unknown>;
  if (type === 'text') return [{ type, text: String(text ?? '') }];
  if (type === 'image') return [{ type, data: String(data ?? ''), mimeType: String(mimeType ?? '') }];
  return typeof block === 'string' ? [{ type: 'text', text: block }] : [];
}

/** What can be written down of a value. */
function plain(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value) ?? 'null');
  } catch {
    return { unwritable: true };
  }
}
