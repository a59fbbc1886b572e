import { isToolName } from '../../agent/tool.ts';
import type { ToolSpec } from '../../model/request.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { HostTool } from '../../protocol/generated/vocabulary.ts';
import { schemaProblem } from '../../protocol/schema-problem.ts';
import { clampTimeout } from '../../system/with-timeout.ts';

/** Limit of tools per client. */
export const MAX_HOST_TOOLS = 1000;

/** Default timeout of a call. */
export const HOST_TOOL_TIMEOUT_MS = 10 * 60 * 1000;

/** A validated host tool. */
export interface HostToolDefinition extends ToolSpec {
  readonly hidden: boolean;
  readonly timeoutMs: number;
}

/** Validates the tools of a client. Throws for a tool that no model could call. */
export function parseDefinitions(tools: readonly HostTool[]): HostToolDefinition[] {
  if (tools.length > MAX_HOST_TOOLS)
    throw invalid(`A client may run ${MAX_HOST_TOOLS} host tools, not ${tools.length}`);
  const definitions = tools.map(parseDefinition);
  if (new Set(definitions.map(({ name }) => name)).size < tools.length) {
    throw invalid('RPC host tool names must be unique');
  }
  return definitions;
}

export const nameConflict = (name: string) => invalid(`RPC host tool "${name}" conflicts with an existing tool`);

function parseDefinition(tool: HostTool, index: number): HostToolDefinition {
  const name = tool.name.trim();
  const description = tool.description.trim();
  const { parameters, hidden = false, timeoutMs } = tool;
  if (name === '') throw invalid(`Host tool at index ${index} must provide a non-empty name`);
  if (!isToolName(name)) throw invalid(`Host tool "${name}" must have a name of 1 to 64 letters, digits, _ and -`);
  if (description === '') throw invalid(`Host tool "${name}" must provide a non-empty description`);
  const problem = schemaProblem(parameters, 'parameters') ?? typeProblem(parameters);
  if (problem) throw invalid(`Host tool "${name}" must provide a JSON Schema object: ${problem}`);
  return {
    name,
    description,
    // Some models reject a tool without both fields.
    parameters: { type: 'object', properties: {}, ...parameters },
    hidden,
    timeoutMs: clampTimeout(timeoutMs || HOST_TOOL_TIMEOUT_MS),
  };
}

const typeProblem = ({ type = 'object' }: HostTool['parameters']) =>
  type === 'object' ? undefined : 'parameters.type must be "object"';

const invalid = (reason: string) => new Refusal('invalid_params', reason);
