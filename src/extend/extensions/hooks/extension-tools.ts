import {
  type OtherTools,
  type Tool,
  ToolError,
  type ToolExposure,
  type ToolOutput,
  textOutput,
} from '../../../agent/tool.ts';
import type { Schema } from '../../../protocol/check.ts';
import { isObject } from '../../../protocol/json.ts';
import { argumentCheck } from '../../argument-check.ts';
import type { Extension } from '../extension.ts';
import type { ExtensionToolContext, ExtensionToolResult, ToolDefinition } from '../extension-api.ts';
import { parseUsage, plainCopy, toBlocks } from './validate-results.ts';

/** The tools of all extensions. Of several with one name, the first counts. */
export function extensionTools(extensions: readonly Extension[], context: ToolContextSource, warn: Warn): Tool[] {
  const tools = new Map<string, Tool>();
  for (const { path, tools: definitions } of extensions) {
    for (const definition of definitions.values()) {
      if (tools.has(definition.name)) continue;
      tools.set(
        definition.name,
        toTool(definition, (otherTools) => context(path, otherTools), warn),
      );
    }
  }
  return [...tools.values()];
}

type Warn = (text: string) => void;

// Creates the `ctx` object of a call.
type ToolContextSource = (path: string, otherTools: OtherTools | undefined) => ExtensionToolContext;

const EXPOSURES: readonly unknown[] = [
  'direct',
  'model-only',
  'codemode',
  'deferred',
  'hidden',
] satisfies ToolExposure[];

function toTool(
  definition: ToolDefinition,
  context: (otherTools: OtherTools | undefined) => ExtensionToolContext,
  warn: Warn,
): Tool {
  const { name, description, parameters, promptSnippet, promptGuidelines, prepareArguments } = definition;
  const { executionMode, exposure, namespace, annotations } = definition;
  // A copy with both fields: some models reject a tool without them.
  const schema: Schema = { type: 'object', properties: {}, ...plainCopy(parameters as Schema) };
  return {
    name,
    description,
    parameters: schema,
    findProblem: argumentCheck({ name, schema, warn }),
    ...(promptSnippet === undefined ? {} : { promptSnippet: String(promptSnippet) }),
    ...(Array.isArray(promptGuidelines) ? { promptGuidelines: promptGuidelines.map(String) } : {}),
    ...(prepareArguments ? { prepareArguments: (args) => plainCopy(prepareArguments(args)) as typeof args } : {}),
    ...(executionMode === 'sequential' ? { executionMode } : {}),
    ...(EXPOSURES.includes(exposure) ? { exposure } : {}),
    ...(isObject(namespace) ? { namespace: plainCopy(namespace) } : {}),
    ...(isObject(annotations) ? { annotations: plainCopy(annotations) } : {}),
    execute: async ({ toolCallId, args, signal, update, otherTools }) => {
      const onUpdate = (result: ExtensionToolResult) => update(toToolOutput(result));
      const ctx = context(otherTools);
      const result = await definition.execute(toolCallId, structuredClone(args), signal, onUpdate, ctx);
      if (result?.isError) throw new ToolError(toToolOutput(result));
      return toToolOutput(result);
    },
  };
}

// Validates and copies a result. Throws if it is invalid, which fails the call.
function toToolOutput(result: ExtensionToolResult | string | undefined): ToolOutput {
  if (typeof result === 'string') return textOutput(result);
  const { content = [], details, structuredContent, usage, terminate } = result ?? {};
  return {
    content: toBlocks('content', plainCopy(content)),
    ...(details === undefined ? {} : { details: plainCopy(details) }),
    ...(structuredContent === undefined ? {} : { structuredContent: plainCopy(structuredContent) }),
    ...(usage === undefined ? {} : { usage: parseUsage('usage', plainCopy(usage)) }),
    ...(terminate === true ? { terminate } : {}),
  };
}
