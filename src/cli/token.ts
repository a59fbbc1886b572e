import { messageOf } from '../protocol/errors.ts';
import { agentDir } from '../store/agent-dir.ts';
import { createToken, readTokens, revokeToken } from '../store/tokens/token-store.ts';
import { harmless } from './chat/printer.ts';
import { type Arguments, type FlagName, UsageError } from './flags.ts';
import { say } from './say.ts';
import { tokenTable } from './token/table.ts';
import { tokenWish } from './token/wish.ts';

/** What a verb works with. */
interface Desk {
  readonly args: Arguments;
  /** What was said after the verb. */
  readonly words: readonly string[];
  readonly root: string;
}

const verbs: Readonly<Record<string, (desk: Desk) => Promise<number>>> = {
  create: created,
  list: listed,
  revoke: revoked,
};

/** Which flags mean something to one verb only. */
const flagsOf: Readonly<Record<string, readonly FlagName[]>> = {
  create: ['name', 'scope', 'path', 'expires'],
  list: ['json'],
};

/** Looks after the tokens of this user's server: `tau token <verb> …`. */
export async function token(args: Arguments): Promise<number> {
  const [, verb, ...words] = args.positionals;
  const work = verb !== undefined && Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (verb === undefined || !work) throw new UsageError(`tau token takes ${Object.keys(verbs).join(', ')}`);
  for (const [other, names] of Object.entries(flagsOf)) {
    const stray = other === verb ? undefined : names.find((name) => args[name] !== undefined);
    if (stray) throw new UsageError(`--${stray} goes with tau token ${other}`);
  }
  return orSay(() => work({ args, words, root: agentDir(process.env) }));
}

async function created({ args, words, root }: Desk): Promise<number> {
  if (words[0] !== undefined) throw new UsageError(`tau token create takes no ${JSON.stringify(words[0])}: --name it`);
  const wish = tokenWish(args);
  const { id, token } = await createToken(root, wish);
  tell(`Token ${id} (${wish.name}), scopes ${wish.scopes.join(', ')}. It is not shown again:`);
  await say(`${token}\n`);
  if (wish.allowedPaths && wish.scopes.some((scope) => scope === 'prompt' || scope === 'bash')) {
    tell('Its paths limit which sessions and files tau opens for it, not what commands reach: those run as you.');
  }
  return 0;
}

async function listed({ args, words, root }: Desk): Promise<number> {
  if (words[0] !== undefined) throw new UsageError(`tau token list takes no ${JSON.stringify(words[0])}`);
  const { tokens, problems } = readTokens(root);
  for (const problem of problems) tell(problem);
  if (args.json) return say(tokens.map(({ sha256: _, ...facts }) => `${JSON.stringify(facts)}\n`).join(''));
  return say(tokens.length > 0 ? tokenTable(tokens) : 'No tokens.\n');
}

async function revoked({ words, root }: Desk): Promise<number> {
  const [wanted, ...others] = words;
  if (wanted === undefined || others.length > 0)
    throw new UsageError('tau token revoke takes the id or name of a token');
  const { id, name } = await revokeToken(root, wanted);
  return say(`${harmless(`Revoked ${id} (${name})`)}\n`);
}

/** Does something; what stands in the way goes to stderr and becomes the exit code. */
async function orSay(work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    tell(`tau: ${messageOf(error)}`);
    return 1;
  }
}

const tell = (text: string) => void process.stderr.write(`${harmless(text)}\n`);
