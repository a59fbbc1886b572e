import type { Schema } from '../../protocol/check.ts';
import { isObject } from '../../protocol/json.ts';
import { isNestedWithin } from '../../store/json-file.ts';

export interface RemoteTool {
  readonly name: string;
  readonly description: string;
  /** The schema that the model receives. */
  readonly parameters: Schema;
  /** The schema of the server. */
  readonly inputSchema: Schema;
}

export interface ToolList {
  readonly tools: readonly RemoteTool[];
  /** Why tools were left out. */
  readonly problems: readonly string[];
}

/** Limit of tools per server: every model call carries all of them. */
export const MAX_MCP_TOOLS = 500;

// Limits a server that returns empty pages forever.
const MAX_PAGES = 100;

/** Limit of one tool's description and schema. */
export const MAX_TOOL_CHARACTERS = 64 * 1024;

/** Limit of all tools of one server. */
export const MAX_LIST_CHARACTERS = 1024 * 1024;

const MAX_INPUT_SCHEMA_DEPTH = 30;

// Further problems are only counted.
const MAX_PROBLEMS = 10;

/** Lists the usable tools of a server, page by page. */
export async function listTools(page: (cursor: string | undefined) => Promise<unknown>): Promise<ToolList> {
  const found: unknown[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const { tools, nextCursor } = objectFrom(await page(cursor));
    if (!Array.isArray(tools)) throw new Error('its list of tools cannot be understood');
    found.push(...tools.slice(0, MAX_MCP_TOOLS + 1));
    if (typeof nextCursor !== 'string' || found.length > MAX_MCP_TOOLS) return usableTools(found);
    cursor = nextCursor;
  }
  return usableTools(found);
}

function usableTools(found: readonly unknown[]): ToolList {
  const tools: RemoteTool[] = [];
  const problems: string[] = [];
  if (found.length > MAX_MCP_TOOLS) problems.push(`it has more than ${MAX_MCP_TOOLS} tools: the others are left out`);
  let remaining = MAX_LIST_CHARACTERS;
  for (const value of found.slice(0, MAX_MCP_TOOLS)) {
    const tool = parseTool(value);
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

function parseTool(value: unknown): RemoteTool | string {
  const { name, description, inputSchema = {} } = objectFrom(value);
  if (typeof name !== 'string' || name === '') return 'one of its tools is left out: it has no name';
  if (!isObject(inputSchema) || ![undefined, 'object'].includes(inputSchema['type'] as string | undefined)) {
    return `its tool ${quoted(name)} is left out: its inputSchema does not describe an object`;
  }
  if (!isNestedWithin(inputSchema, MAX_INPUT_SCHEMA_DEPTH))
    return `its tool ${quoted(name)} is left out: its inputSchema is nested too deep`;
  return {
    name,
    description: typeof description === 'string' ? description : '',
    parameters: parametersFrom(inputSchema),
    inputSchema: inputSchema as Schema,
  };
}

// Some providers reject a request if a schema has these keywords at its top.
function parametersFrom(inputSchema: Readonly<Record<string, unknown>>): Schema {
  const { $schema, $id, anyOf, oneOf, allOf, not, enum: _enum, properties, ...rest } = inputSchema;
  return { ...rest, type: 'object', properties: isObject(properties) ? (properties as Record<string, Schema>) : {} };
}

const objectFrom = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});

const quoted = (name: string) => JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);

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
