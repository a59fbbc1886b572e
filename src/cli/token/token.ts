import { messageOf } from '../../protocol/errors.ts';
import { agentDir } from '../../store/agent-dir.ts';
import type { TokenRecord } from '../../store/tokens/token-record.ts';
import { createToken, readTokens, revokeToken } from '../../store/tokens/token-store.ts';
import { terminalJson, terminalText } from '../../system/terminal-text.ts';
import { type CliArguments, type FlagName, UsageError } from '../flags/flags.ts';
import { ageOf } from '../sessions/table.ts';
import { printAndExit } from '../stdio.ts';
import { textTable } from '../text-table.ts';
import { tokenOptions } from './options.ts';

// The input of a verb.
interface TokenVerbContext {
  readonly args: CliArguments;
  readonly words: readonly string[];
  readonly root: string;
}

const verbs: Readonly<Record<string, (context: TokenVerbContext) => Promise<number>>> = {
  create: createVerb,
  list: listVerb,
  revoke: revokeVerb,
};

// Flags of single verbs.
const flagsOf: Readonly<Record<string, readonly FlagName[]>> = {
  create: ['name', 'scope', 'path', 'expires'],
  list: ['json'],
};

/** `tau token <verb>`: creates, lists and revokes tokens of this user's server. */
export async function token(args: CliArguments): Promise<number> {
  const [, verb, ...words] = args.positionals;
  const run = verb !== undefined && Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (verb === undefined || !run) throw new UsageError(`tau token takes ${Object.keys(verbs).join(', ')}`);
  for (const [other, names] of Object.entries(flagsOf)) {
    const misplaced = other === verb ? undefined : names.find((name) => args[name] !== undefined);
    if (misplaced) throw new UsageError(`--${misplaced} goes with tau token ${other}`);
  }
  return withErrorReport(() => run({ args, words, root: agentDir(process.env) }));
}

async function createVerb({ args, words, root }: TokenVerbContext): Promise<number> {
  if (words[0] !== undefined) throw new UsageError(`tau token create takes no ${JSON.stringify(words[0])}: --name it`);
  const options = tokenOptions(args);
  const { id, token } = await createToken(root, options);
  warn(`Token ${id} (${options.name}), scopes ${options.scopes.join(', ')}. It is not shown again:`);
  await printAndExit(`${token}\n`);
  if (options.allowedPaths && options.scopes.some((scope) => scope === 'prompt' || scope === 'bash')) {
    warn('Its paths limit which sessions and files tau opens for it, not what commands reach: those run as you.');
  }
  return 0;
}

async function listVerb({ args, words, root }: TokenVerbContext): Promise<number> {
  if (words[0] !== undefined) throw new UsageError(`tau token list takes no ${JSON.stringify(words[0])}`);
  const { tokens, problems } = readTokens(root);
  for (const problem of problems) warn(problem);
  if (args.json)
    return printAndExit(tokens.map(({ sha256: _, ...facts }) => `${terminalJson(JSON.stringify(facts))}\n`).join(''));
  return printAndExit(tokens.length > 0 ? tokenTable(tokens) : 'No tokens.\n');
}

async function revokeVerb({ words, root }: TokenVerbContext): Promise<number> {
  const [idOrName, ...others] = words;
  if (idOrName === undefined || others.length > 0)
    throw new UsageError('tau token revoke takes the id or name of a token');
  const { id, name } = await revokeToken(root, idOrName);
  return printAndExit(`${terminalText(`Revoked ${id} (${name})`)}\n`);
}

/** Prints an error to stderr and turns it into the exit code. */
async function withErrorReport(run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    warn(`tau: ${messageOf(error)}`);
    return 1;
  }
}

const warn = (text: string) => void process.stderr.write(`${terminalText(text)}\n`);

const HEAD = ['ID', 'NAME', 'SCOPES', 'CREATED', 'EXPIRES', 'LAST USED', 'PATHS'];

/** Formats tokens as a table. */
const tokenTable = (tokens: readonly TokenRecord[]): string =>
  textTable(
    HEAD,
    tokens.map(({ id, name, scopes, createdAt, expiresAt, lastUsedAt, allowedPaths }) => [
      id,
      name,
      scopes.join(','),
      createdAt === undefined ? '' : ageOf(createdAt),
      expiresAt === undefined ? 'never' : endOf(expiresAt),
      lastUsedAt === undefined ? 'never' : ageOf(lastUsedAt),
      allowedPaths?.join(' ') ?? 'all',
    ]),
  );

/** To the minute, in UTC. */
const endOf = (time: string) =>
  Date.parse(time) > Date.now() ? `${new Date(time).toISOString().slice(0, 16)}Z` : 'expired';
