import { messageOf } from '../../protocol/errors.ts';
import { agentDir } from '../../store/agent-dir.ts';
import type { TokenRecord } from '../../store/tokens/token-record.ts';
import {
  createToken,
  type NewToken,
  readTokens,
  revokeToken,
  type StoredTokens,
} from '../../store/tokens/token-store.ts';
import { terminalJson, terminalText } from '../../system/terminal-text.ts';
import { COMMAND_WAIT_MS, natsAddress } from '../cluster/nats-flags.ts';
import { type CliArguments, type FlagName, UsageError } from '../flags/flags.ts';
import { ageOf } from '../sessions/table.ts';
import { printAndExit } from '../stdio.ts';
import { textTable } from '../text-table.ts';
import { tokenOptions } from './options.ts';

// The input of a verb.
interface TokenVerbContext {
  readonly args: CliArguments;
  readonly words: readonly string[];
}

// The tokens of the user's server, or those of a cluster.
interface TokenStore {
  create(request: NewToken): Promise<{ id: string; token: string }>;
  list(): Promise<StoredTokens> | StoredTokens;
  revoke(idOrName: string): Promise<{ id: string; name: string }>;
  close(): Promise<void>;
}

const verbs: Readonly<Record<string, (context: TokenVerbContext) => Promise<number>>> = {
  create: createVerb,
  list: listVerb,
  revoke: revokeVerb,
};

// Flags of single verbs.
const flagsOf: Readonly<Record<string, readonly FlagName[]>> = {
  create: ['name', 'scope', 'path', 'limit', 'expires'],
  list: ['json'],
};

/** `tau token <verb>`: creates, lists and revokes tokens of this user's server, or of a cluster. */
export async function token(args: CliArguments): Promise<number> {
  const [, verb, ...words] = args.positionals;
  const run = verb !== undefined && Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (verb === undefined || !run) throw new UsageError(`tau token takes ${Object.keys(verbs).join(', ')}`);
  for (const [other, names] of Object.entries(flagsOf)) {
    const misplaced = other === verb ? undefined : names.find((name) => args[name] !== undefined);
    if (misplaced) throw new UsageError(`--${misplaced} goes with tau token ${other}`);
  }
  const natsFlag = NATS_FLAGS.find((name) => args[name] !== undefined);
  if (natsFlag !== undefined && args.cluster === undefined) throw new UsageError(`--${natsFlag} goes with --cluster`);
  return withErrorReport(() => run({ args, words }));
}

const NATS_FLAGS = ['nats-creds', 'nats-nkey', 'nats-ca'] as const satisfies readonly FlagName[];

/** Uses the tokens of the cluster that the flags name, or else those of the user. */
async function withStore<T>(args: CliArguments, use: (store: TokenStore) => Promise<T> | T): Promise<T> {
  const store = args.cluster === undefined ? localTokens() : await clusterTokens(args.cluster, args);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

function localTokens(): TokenStore {
  const root = agentDir(process.env);
  return {
    create: (request) => createToken(root, request),
    list: () => readTokens(root),
    revoke: (idOrName) => revokeToken(root, idOrName),
    close: async () => {},
  };
}

async function clusterTokens(urls: string, args: CliArguments): Promise<TokenStore> {
  const { replicas: _, ...address } = natsAddress(urls, args);
  const { ClusterTokens } = await import('../../server/cluster/auth/cluster-tokens.ts');
  return ClusterTokens.open({ ...address, name: 'tau token' }, COMMAND_WAIT_MS);
}

async function createVerb({ args, words }: TokenVerbContext): Promise<number> {
  if (words[0] !== undefined) throw new UsageError(`tau token create takes no ${JSON.stringify(words[0])}: --name it`);
  const options = tokenOptions(args);
  const { id, token } = await withStore(args, (store) => store.create(options));
  const limit = options.limit === undefined ? '' : `; limit ${options.limit}`;
  warn(`Token ${id} (${options.name}), scopes ${options.scopes.join(', ')}${limit}. It is not shown again:`);
  await printAndExit(`${token}\n`);
  if (isLimited(options) && options.scopes.includes('bash'))
    warn('Its limit excludes bash: the commands of clients run as you, without questions.');
  if (options.allowedPaths && options.scopes.some((scope) => scope === 'prompt' || scope === 'bash')) {
    warn('Its paths limit which sessions and files tau opens for it, not what commands reach: those run as you.');
  }
  return 0;
}

const isLimited = ({ limit }: NewToken) => limit !== undefined && limit !== 'full';

async function listVerb({ args, words }: TokenVerbContext): Promise<number> {
  if (words[0] !== undefined) throw new UsageError(`tau token list takes no ${JSON.stringify(words[0])}`);
  const { tokens, problems } = await withStore(args, (store) => store.list());
  for (const problem of problems) warn(problem);
  if (args.json)
    return printAndExit(tokens.map(({ sha256: _, ...facts }) => `${terminalJson(JSON.stringify(facts))}\n`).join(''));
  return printAndExit(tokens.length > 0 ? tokenTable(tokens) : 'No tokens.\n');
}

async function revokeVerb({ args, words }: TokenVerbContext): Promise<number> {
  const [idOrName, ...others] = words;
  if (idOrName === undefined || others.length > 0)
    throw new UsageError('tau token revoke takes the id or name of a token');
  const { id, name } = await withStore(args, (store) => store.revoke(idOrName));
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

const HEAD = ['ID', 'NAME', 'SCOPES', 'CREATED', 'EXPIRES', 'LAST USED', 'LIMIT', 'PATHS'];

/** Formats tokens as a table. */
const tokenTable = (tokens: readonly TokenRecord[]): string =>
  textTable(
    HEAD,
    tokens.map(({ id, name, scopes, createdAt, expiresAt, lastUsedAt, limit, allowedPaths }) => [
      id,
      name,
      scopes.join(','),
      createdAt === undefined ? '' : ageOf(createdAt),
      expiresAt === undefined ? 'never' : endOf(expiresAt),
      lastUsedAt === undefined ? 'never' : ageOf(lastUsedAt),
      limit ?? 'none',
      allowedPaths?.join(' ') ?? 'all',
    ]),
  );

/** To the minute, in UTC. */
const endOf = (time: string) =>
  Date.parse(time) > Date.now() ? `${new Date(time).toISOString().slice(0, 16)}Z` : 'expired';
