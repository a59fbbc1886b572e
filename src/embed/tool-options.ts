import { type ToolChoice, DEFAULT_TOOLS } from '../agent/tool-choice.ts';
import { BUILTIN_TOOL_NAMES } from '../agent/tools/builtin-tools.ts';
import { checkTool } from '../extend/extensions/api/create-api.ts';
import type { ExtensionFactory, ToolDefinition } from '../extend/extensions/extension-api.ts';

/** What a program says about tools, in the words of both versions of pi. */
export interface ToolOptions {
  /** Names, `*` for any letters, `+name` and `-name`; or tools, of which those with a name of tau's own choose that one. */
  readonly tools?: readonly (string | ToolDefinition)[] | undefined;
  readonly noTools?: 'all' | 'builtin' | undefined;
  readonly excludeTools?: readonly string[] | undefined;
  readonly customTools?: readonly ToolDefinition[] | undefined;
}

/** What an extension is called that is made of the tools of the program. */
export const CUSTOM_TOOLS = '<customTools>';

/** Which tools are offered, and the extension that brings along those of the program. Throws where one makes no sense. */
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
  // Tools choose among tau's own; what others bring is offered as usual.
  const more = names.filter((name) => BUILTIN_TOOL_NAMES.includes(name) && !DEFAULT_TOOLS.includes(name));
  const less = DEFAULT_TOOLS.filter((name) => !names.includes(name));
  const changes = [...more.map((name) => `+${name}`), ...less.map((name) => `-${name}`)];
  return changes.length === 0 ? undefined : changes;
}
