import { messageOf } from '../../protocol/errors.ts';
import type { ImageContent, SlashCommand } from '../../protocol/generated/vocabulary.ts';
import { isObject } from '../../protocol/json.ts';
import type { UserInput } from '../../session/hooks.ts';
import { splitArguments } from '../resources/template-arguments.ts';
import type { RemotePrompt } from './prompt-list.ts';
import { parseToolResult } from './tools/tool-output.ts';

// Further mentions in one message stay plain text.
const MAX_MENTIONS = 10;

const FINAL_PUNCTUATION = '.,;!?)]}\'"';

/** A server, as far as messages of the user name its prompts and resources. */
export interface PromptServer {
  readonly name: string;
  readonly prompts: readonly RemotePrompt[];
  readonly isReady: boolean;
  readonly read: (method: 'prompts/get' | 'resources/read', params: object, signal: AbortSignal) => Promise<unknown>;
}

interface Expansion {
  readonly servers: readonly PromptServer[];
  readonly signal: AbortSignal;
  /** Reports a prompt or resource that could not be read; the message stays as it is. */
  readonly onFailure: (name: string, error: unknown) => void;
}

interface Mention {
  readonly server: PromptServer;
  readonly uri: string;
  readonly mention: string;
}

const commandName = (server: string, prompt: string) => `${server.replaceAll(/\s/g, '_')}:${prompt}`;

/** The prompts of all servers as slash commands, `/server:prompt`. */
export function promptCommands(servers: readonly PromptServer[]): SlashCommand[] {
  return servers.flatMap(({ name: server, prompts }) =>
    prompts.map(({ name, description, arguments: args }) => ({
      name: commandName(server, name),
      description: description || `Prompt of the MCP server ${server}`,
      source: 'prompt' as const,
      sourceInfo: { path: `mcp:${server}`, source: 'mcp', scope: 'temporary' as const, origin: 'top-level' as const },
      ...(args.length === 0 ? {} : { argumentHint: args.map(argumentHint).join(' ') }),
    })),
  );
}

const argumentHint = ({ name, isRequired }: RemotePrompt['arguments'][number]) =>
  isRequired ? `<${name}>` : `[${name}]`;

/**
 * Replaces `/server:prompt arguments` by the prompt, and appends each resource that `@server:uri` names. The text of a
 * prompt names none: a server must not cause requests to another one.
 */
export async function expandMcpInput(input: UserInput, expansion: Expansion): Promise<UserInput | undefined> {
  const prompted = input.text.startsWith('/') ? await expandPrompt(input, expansion) : undefined;
  const found = mentionsIn(input.text, expansion.servers);
  return (await appendResources(prompted ?? input, found, expansion)) ?? prompted;
}

async function expandPrompt(
  input: UserInput,
  { servers, signal, onFailure }: Expansion,
): Promise<UserInput | undefined> {
  const [, called = '', words = ''] = /^\/(\S+)\s*(.*)$/s.exec(input.text) ?? [];
  for (const { name: server, prompts, read } of servers) {
    const prompt = prompts.find(({ name }) => commandName(server, name) === called);
    if (!prompt) continue;
    try {
      const params = { name: prompt.name, arguments: argumentsFrom(words, prompt) };
      const { messages } = objectFrom(await read('prompts/get', params, signal));
      const blocks = (Array.isArray(messages) ? messages : []).flatMap(blocksOf);
      const { text, images } = await toInput(blocks);
      if (text.trim() === '' && images.length === 0) throw new Error('the prompt is empty');
      return { text, images: [...input.images, ...images] };
    } catch (error) {
      onFailure(`/${called}`, new Error(messageOf(error)));
      return undefined;
    }
  }
  return undefined;
}

// `name=value` sets an argument; other words fill the remaining ones in order, and the last one takes the rest.
function argumentsFrom(words: string, { arguments: args }: RemotePrompt): Record<string, string> {
  const values: Record<string, string> = {};
  const positional: string[] = [];
  for (const word of splitArguments(words)) {
    const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
    if (args.some((argument) => argument.name === name)) values[name] = value;
    else positional.push(word);
  }
  const open = args.filter(({ name }) => values[name] === undefined);
  for (const [index, { name }] of open.entries()) {
    const value = index === open.length - 1 ? positional.slice(index).join(' ') : positional[index];
    if (value) values[name] = value;
  }
  const missing = args.find(({ name, isRequired }) => isRequired && values[name] === undefined);
  if (missing) throw new Error(`the argument ${missing.name} is missing`);
  return values;
}

function blocksOf(message: unknown): object[] {
  const { role, content } = objectFrom(message);
  const blocks = [content].flat().filter(isObject);
  return role === 'assistant' ? [{ type: 'text', text: '[assistant]' }, ...blocks] : blocks;
}

async function appendResources(
  input: UserInput,
  found: readonly Mention[],
  { signal, onFailure }: Expansion,
): Promise<UserInput | undefined> {
  const parts = await Promise.all(
    found.map(async ({ server, uri, mention }) => {
      try {
        const { contents } = objectFrom(await server.read('resources/read', { uri }, signal));
        if (!Array.isArray(contents) || contents.length === 0) throw new Error('the resource has no content');
        return await toInput(contents.map((resource) => ({ type: 'resource', resource })));
      } catch (error) {
        onFailure(mention, new Error(messageOf(error)));
        return undefined;
      }
    }),
  );
  const read = parts.filter((part) => part !== undefined);
  if (read.length === 0) return undefined;
  return {
    text: [input.text, ...read.map(({ text }) => text)].join('\n\n'),
    images: [...input.images, ...read.flatMap(({ images }) => images)],
  };
}

function mentionsIn(text: string, servers: readonly PromptServer[]): Mention[] {
  const found = new Map<string, Mention>();
  for (const [, name = '', rest = ''] of text.matchAll(/(?<!\S)@([^\s:@]+):([a-z][a-z0-9+.-]*:\S+)/gi)) {
    const server = servers.find((one) => one.name === name && one.isReady);
    if (!server || found.size >= MAX_MENTIONS) continue;
    const uri = withoutFinalPunctuation(rest);
    found.set(`@${name}:${uri}`, { server, uri, mention: `@${name}:${uri}` });
  }
  return [...found.values()];
}

// A regular expression would try again at every mark of a long text of marks.
function withoutFinalPunctuation(text: string): string {
  let end = text.length;
  while (FINAL_PUNCTUATION.includes(text[end - 1] ?? ' ')) end--;
  return text.slice(0, end);
}

async function toInput(blocks: readonly object[]): Promise<{ text: string; images: ImageContent[] }> {
  const { content } = await parseToolResult({ content: blocks });
  return {
    text: content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('\n'),
    images: content.flatMap((block) => (block.type === 'image' ? block : [])),
  };
}

const objectFrom = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {});
