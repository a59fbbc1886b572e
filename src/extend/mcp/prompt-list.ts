import { isObject } from '../../protocol/json.ts';
import { collectPages } from './list-pages.ts';

/** A prompt of a server. */
export interface RemotePrompt {
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
}

export interface PromptArgument {
  readonly name: string;
  readonly description: string;
  readonly isRequired: boolean;
}

/** Limit of prompts per server: each becomes a slash command. */
export const MAX_MCP_PROMPTS = 200;

const MAX_PROMPT_ARGUMENTS = 20;
const MAX_PROMPT_DESCRIPTION = 1000;

/** Lists the usable prompts of a server. A name with a blank cannot be called and is left out. */
export async function listPrompts(
  page: (cursor: string | undefined) => Promise<unknown>,
): Promise<readonly RemotePrompt[]> {
  const found = await collectPages('prompts', page, MAX_MCP_PROMPTS);
  return found.flatMap(promptFrom).slice(0, MAX_MCP_PROMPTS);
}

function promptFrom(value: unknown): RemotePrompt[] {
  if (!isObject(value)) return [];
  const { name, title, description, arguments: args } = value;
  if (typeof name !== 'string' || !/^\S{1,200}$/.test(name)) return [];
  const list = Array.isArray(args) ? args.slice(0, MAX_PROMPT_ARGUMENTS).flatMap(argumentFrom) : [];
  return [{ name, description: shortText(description) || shortText(title), arguments: list }];
}

function argumentFrom(value: unknown): PromptArgument[] {
  if (!isObject(value) || typeof value['name'] !== 'string') return [];
  return [
    { name: value['name'], description: shortText(value['description']), isRequired: value['required'] === true },
  ];
}

const shortText = (value: unknown) => (typeof value === 'string' ? value.slice(0, MAX_PROMPT_DESCRIPTION) : '');
