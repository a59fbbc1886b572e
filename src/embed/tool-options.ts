import { DEFAULT_TOOLS, type ToolChoice } from '../agent/tool-choice.ts';
import { BUILTIN_TOOL_NAMES } from '../agent/tools/builtin-tools.ts';
import { checkTool } from '../extend/extensions/api/create-api.ts';
import type { ExtensionFactory, ToolDefinition } from '../extend/extensions/extension-api.ts';

/** The tool options of both versions of pi. */
export interface ToolOptions {
  /** Names, with `*`, `+name` and `-name`; or tools. A tool with the name of a built-in one selects that. */
  readonly tools?: readonly (string | ToolDefinition)[] | undefined;
  readonly noTools?: 'all' | 'builtin' | undefined;
  readonly excludeTools?: readonly string[] | undefined;
  readonly customTools?: readonly ToolDefinition[] | undefined;
}

/** The path of the extension that holds the program's own tools. */
export const CUSTOM_TOOLS = '<customTools>';

/** Resolves the options to a tool choice and an extension with the program's own tools. Throws on an invalid tool. */
export function resolveTools({ tools, noTools, excludeTools, customTools = [] }: ToolOptions) {
  const objects = tools?.filter((tool) => typeof tool !== 'string') ?? [];
  const custom = [...customTools, ...objects.filter(({ name }) => !BUILTIN_TOOL_NAMES.includes(name))];
  for (const tool of custom) checkTool(tool);
  const choice: ToolChoice = {
    patterns: tools === undefined && noTools === 'all' ? [] : tools && toolSelection(tools),
    excluded: excludeTools,
    builtin: noTools !== 'builtin',
  };
  const factory: ExtensionFactory = (pi) => {
    for (const tool of custom) pi.registerTool(tool);
  };
  return { choice, factories: new Map(custom.length === 0 ? [] : [[CUSTOM_TOOLS, factory]]) };
}

function toolSelection(tools: NonNullable<ToolOptions['tools']>): readonly string[] | undefined {
  const names = tools.map((tool) => (typeof tool === 'string' ? tool : tool.name));
  if (tools.length === 0 || tools.some((tool) => typeof tool === 'string')) return names;
  // Tool objects select among the built-in tools only; tools of extensions stay active.
  const more = names.filter((name) => BUILTIN_TOOL_NAMES.includes(name) && !DEFAULT_TOOLS.includes(name));
  const less = DEFAULT_TOOLS.filter((name) => !names.includes(name));
  const changes = [...more.map((name) => `+${name}`), ...less.map((name) => `-${name}`)];
  return changes.length === 0 ? undefined : changes;
}
