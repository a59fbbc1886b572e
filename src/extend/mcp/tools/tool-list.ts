import type { Schema } from '../../../protocol/check.ts';
import { isObject } from '../../../protocol/json.ts';
import { isNestedWithin } from '../../../store/json-file.ts';
import { collectPages } from '../list-pages.ts';
import { headerProblem } from './param-headers.ts';

export interface RemoteTool {
  readonly name: string;
  readonly description: string;
  /** The schema that the model receives. */
  readonly parameters: Schema;
  /** The schema of the server. */
  readonly inputSchema: Schema;
  /** The server runs it only as a task. */
  readonly isTask: boolean;
}

export interface ToolList {
  readonly tools: readonly RemoteTool[];
  /** Why tools were left out. */
  readonly problems: readonly string[];
}

/** Limit of tools per server: every model call carries all of them. */
export const MAX_MCP_TOOLS = 500;

/** Limit of one tool's description and schema. */
export const MAX_TOOL_CHARACTERS = 64 * 1024;

/** Limit of all tools of one server. */
export const MAX_LIST_CHARACTERS = 1024 * 1024;

const MAX_INPUT_SCHEMA_DEPTH = 30;

// Further problems are only counted.
const MAX_PROBLEMS = 10;

export interface ToolListOptions {
  /** Whether the server runs tools as tasks. */
  readonly runsTasks: boolean;
  /** Whether arguments may travel in headers, so that invalid declarations matter. */
  readonly checksHeaders: boolean;
}

/** Lists the usable tools of a server, page by page. */
export async function listTools(
  page: (cursor: string | undefined) => Promise<unknown>,
  options: ToolListOptions,
): Promise<ToolList> {
  return usableTools(await collectPages('tools', page, MAX_MCP_TOOLS), options);
}

function usableTools(found: readonly unknown[], options: ToolListOptions): ToolList {
  const tools: RemoteTool[] = [];
  const problems: string[] = [];
  if (found.length > MAX_MCP_TOOLS) problems.push(`it has more than ${MAX_MCP_TOOLS} tools: the others are left out`);
  let remaining = MAX_LIST_CHARACTERS;
  for (const value of found.slice(0, MAX_MCP_TOOLS)) {
    const tool = parseTool(value, options);
    const size = typeof tool === 'string' ? 0 : toolSize(tool);
    if (typeof tool === 'string') problems.push(tool);
    else if (size > MAX_TOOL_CHARACTERS)
      problems.push(`its tool ${quoted(tool.name)} is left out: its description is too long`);
    else if (size > remaining) problems.push(`its tool ${quoted(tool.name)} is left out: there is too much before it`);
    else {
      tools.push(tool);
      remaining -= size;
    }
  }
  const omitted = problems.length - MAX_PROBLEMS;
  return { tools, problems: omitted > 0 ? [...problems.slice(0, MAX_PROBLEMS), `and ${omitted} more`] : problems };
}

const toolSize = ({ name, description, parameters }: RemoteTool) =>
  name.length + description.length + JSON.stringify(parameters).length;

function parseTool(value: unknown, { runsTasks, checksHeaders }: ToolListOptions): RemoteTool | string {
  const { name, description, inputSchema = {}, execution } = objectFrom(value);
  if (typeof name !== 'string' || name === '') return 'one of its tools is left out: it has no name';
  if (!isObject(inputSchema) || ![undefined, 'object'].includes(inputSchema['type'] as string | undefined)) {
    return `its tool ${quoted(name)} is left out: its inputSchema does not describe an object`;
  }
  if (!isNestedWithin(inputSchema, MAX_INPUT_SCHEMA_DEPTH))
    return `its tool ${quoted(name)} is left out: its inputSchema is nested too deep`;
  const isTask = objectFrom(execution)['taskSupport'] === 'required';
  if (isTask && !runsTasks)
    return `its tool ${quoted(name)} is left out: it needs tasks, which the server does not run`;
  const problem = checksHeaders ? headerProblem(inputSchema) : undefined;
  if (problem !== undefined) return `its tool ${quoted(name)} is left out: ${problem}`;
  return {
    name,
    description: typeof description === 'string' ? description : '',
    parameters: parametersFrom(inputSchema),
    inputSchema: inputSchema as Schema,
    isTask,
  };
}

// Some providers reject a request if a schema has these keywords at its top.
function parametersFrom(inputSchema: Readonly<Record<string, unknown>>): Schema {
  const { $schema, $id, anyOf, oneOf, allOf, not, enum: _enum, properties, ...rest } = inputSchema;
  return { ...rest, type: 'object', properties: isObject(properties) ? (properties as Record<string, Schema>) : {} };
}

const objectFrom = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});

const quoted = (name: string) => JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);
