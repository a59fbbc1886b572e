import { isToolName } from '../../agent/tool.ts';
import type { ToolSpec } from '../../model/request.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { HostTool } from '../../protocol/generated/vocabulary.ts';
import { schemaProblem } from '../../protocol/schema-problem.ts';
import { clampTimeout } from '../../system/with-timeout.ts';

/** Tools that one client may run. */
export const MAX_TOOLS = 1000;

/** How long a call may take unless its tool says otherwise. */
export const DEADLINE_MS = 10 * 60 * 1000;

/** A tool that a client runs, checked. */
export interface Definition extends ToolSpec {
  readonly hidden: boolean;
  readonly timeoutMs: number;
}

/** What a client says of its tools. Throws where a model could not be told of them. */
export function definitionsOf(tools: readonly HostTool[]): Definition[] {
  if (tools.length > MAX_TOOLS) throw refused(`A client may run ${MAX_TOOLS} host tools, not ${tools.length}`);
  const definitions = tools.map(definitionOf);
  if (new Set(definitions.map(({ name }) => name)).size < tools.length) {
    throw refused('RPC host tool names must be unique');
  }
  return definitions;
}

export const clash = (name: string) => refused(`RPC host tool "${name}" conflicts with an existing tool`);

function definitionOf(tool: HostTool, index: number): Definition {
  const name = tool.name.trim();
  const description = tool.description.trim();
  const { parameters, hidden = false, timeoutMs } = tool;
  if (name === '') throw refused(`Host tool at index ${index} must provide a non-empty name`);
  if (!isToolName(name)) throw refused(`Host tool "${name}" must have a name of 1 to 64 letters, digits, _ and -`);
  if (description === '') throw refused(`Host tool "${name}" must provide a non-empty description`);
  const problem = schemaProblem(parameters, 'parameters') ?? kindProblem(parameters);
  if (problem) throw refused(`Host tool "${name}" must provide a JSON Schema object: ${problem}`);
  return {
    name,
    description,
    // Some models refuse a tool that does not say both.
    parameters: { type: 'object', properties: {}, ...parameters },
    hidden,
    timeoutMs: clampTimeout(timeoutMs || DEADLINE_MS),
  };
}

/** Arguments are objects. */
const kindProblem = ({ type = 'object' }: HostTool['parameters']) =>
  type === 'object' ? undefined : 'parameters.type must be "object"';

const refused = (reason: string) => new Refusal('invalid_params', reason);
