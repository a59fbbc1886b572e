import { type Tool, ToolError, type ToolOutput, textOutput } from '../../../agent/tool.ts';
import type { Schema } from '../../../protocol/check.ts';
import { argumentCheck } from '../../argument-check.ts';
import type { Extension } from '../extension.ts';
import type { ExtensionContext, ExtensionToolResult, ToolDefinition } from '../extension-api.ts';
import { plainCopy, toBlocks } from './validate-results.ts';

/** The tools of all extensions. Of several with one name, the first counts. */
export function extensionTools(extensions: readonly Extension[], context: () => ExtensionContext): Tool[] {
  const tools = new Map<string, Tool>();
  for (const { tools: definitions } of extensions) {
    for (const definition of definitions.values()) {
      if (!tools.has(definition.name)) tools.set(definition.name, toTool(definition, context));
    }
  }
  return [...tools.values()];
}

function toTool(definition: ToolDefinition, context: () => ExtensionContext): Tool {
  const { name, description, parameters, promptSnippet, promptGuidelines, prepareArguments } = definition;
  // A copy with both fields: some models reject a tool without them.
  const schema: Schema = { type: 'object', properties: {}, ...plainCopy(parameters as Schema) };
  return {
    name,
    description,
    parameters: schema,
    findProblem: argumentCheck(name, schema),
    ...(promptSnippet === undefined ? {} : { promptSnippet: String(promptSnippet) }),
    ...(Array.isArray(promptGuidelines) ? { promptGuidelines: promptGuidelines.map(String) } : {}),
    ...(prepareArguments ? { prepareArguments: (args) => plainCopy(prepareArguments(args)) as typeof args } : {}),
    execute: async ({ toolCallId, args, signal, update }) => {
      const onUpdate = (result: ExtensionToolResult) => update(toToolOutput(result));
      const result = await definition.execute(toolCallId, structuredClone(args), signal, onUpdate, context());
      if (result?.isError) throw new ToolError(toToolOutput(result));
      return toToolOutput(result);
    },
  };
}

// Validates and copies a result. Throws if it is invalid, which fails the call.
function toToolOutput(result: ExtensionToolResult | string | undefined): ToolOutput {
  if (typeof result === 'string') return textOutput(result);
  const { content = [], details, terminate } = result ?? {};
  return {
    content: toBlocks('content', plainCopy(content)),
    ...(details === undefined ? {} : { details: plainCopy(details) }),
    ...(terminate === true ? { terminate } : {}),
  };
}
