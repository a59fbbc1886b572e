import { type Tool, ToolError, type ToolOutput, textOutput } from '../../agent/tool.ts';
import type { Schema } from '../../protocol/check.ts';
import { blocks, plainCopy } from './answers.ts';
import type { Extension } from './extension.ts';
import type { ExtensionContext, ToolAnswer, ToolDefinition } from './extension-api.ts';

/** The tools of all extensions. The first of a name counts. */
export function toolsOf(extensions: readonly Extension[], context: () => ExtensionContext): Tool[] {
  const tools = new Map<string, Tool>();
  for (const { tools: own } of extensions) {
    for (const definition of own.values()) {
      if (!tools.has(definition.name)) tools.set(definition.name, toolFrom(definition, context));
    }
  }
  return [...tools.values()];
}

function toolFrom(definition: ToolDefinition, context: () => ExtensionContext): Tool {
  const { name, description, parameters, promptSnippet, promptGuidelines, prepareArguments } = definition;
  return {
    name,
    description,
    // A copy, and one that says both: some models refuse a tool that does not.
    parameters: { type: 'object', properties: {}, ...plainCopy(parameters as Schema) },
    ...(promptSnippet === undefined ? {} : { promptSnippet: String(promptSnippet) }),
    ...(Array.isArray(promptGuidelines) ? { promptGuidelines: promptGuidelines.map(String) } : {}),
    ...(prepareArguments ? { prepareArguments: (args) => plainCopy(prepareArguments(args)) as typeof args } : {}),
    execute: async ({ toolCallId, args, signal, update }) => {
      const onUpdate = (answer: ToolAnswer) => update(outputOf(answer));
      const answer = await definition.execute(toolCallId, structuredClone(args), signal, onUpdate, context());
      if (answer?.isError) throw new ToolError(outputOf(answer));
      return outputOf(answer);
    },
  };
}

/** What a tool answered, in the form that is sent and stored. Throws where that cannot be: then the call has failed. */
function outputOf(answer: ToolAnswer | string | undefined): ToolOutput {
  if (typeof answer === 'string') return textOutput(answer);
  const { content = [], details, terminate } = answer ?? {};
  return {
    content: blocks('content', plainCopy(content)),
    ...(details === undefined ? {} : { details: plainCopy(details) }),
    ...(terminate === true ? { terminate } : {}),
  };
}
