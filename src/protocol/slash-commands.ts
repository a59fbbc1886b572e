/** A slash command of a message: its name without the slash, and the text after the first white space. */
export interface SlashCommandCall {
  readonly name: string;
  readonly args: string;
}

/** Splits a message that starts with a slash into name and arguments. Agents, servers and clients all use this parser. */
export function parseSlashCommand(message: string): SlashCommandCall | undefined {
  if (!message.startsWith('/')) return undefined;
  const space = message.search(/\s/);
  const name = message.slice(1, space === -1 ? undefined : space);
  return name === '' ? undefined : { name, args: space === -1 ? '' : message.slice(space + 1) };
}

/** Splits off the arguments of a built-in slash command: white space around them does not count. */
export function parseBuiltinCall(message: string): SlashCommandCall | undefined {
  const call = parseSlashCommand(message);
  return call && { name: call.name, args: call.args.trim() };
}

/** Parses `/new` or `/fork <entry>`, the built-in slash commands that move to another session. */
export function parseBuiltinMove(message: string): { readonly entryId: string | undefined } | undefined {
  const { name, args = '' } = parseBuiltinCall(message) ?? {};
  if (name === 'new') return { entryId: undefined };
  return name === 'fork' && args !== '' ? { entryId: args } : undefined;
}
