import { openModels } from '../../engine/models/open-models.ts';
import type { ProviderAuth } from '../../model/keys/provider-auth.ts';
import { messageOf } from '../../protocol/errors.ts';
import { readCredentials } from '../../store/credentials.ts';
import { warn } from '../../system/terminal-text.ts';
import { cliPaths, modelOptionsOf } from '../engine-options.ts';
import { durationMs } from '../flags/duration.ts';
import { type CliArguments, UsageError } from '../flags/flags.ts';
import { printAndExit } from '../stdio.ts';

interface AuthContext {
  readonly auth: ProviderAuth;
  readonly provider: string | undefined;
  readonly root: string;
  readonly minLifeMs: number | undefined;
}

const verbs: Readonly<Record<string, (context: AuthContext) => Promise<number>>> = {
  check,
  'print-api-key': printApiKey,
  'print-bearer-token': printBearerToken,
};

/** `tau auth <verb>`: checks and prints stored credentials, renewed if necessary. */
export async function auth(args: CliArguments): Promise<number> {
  const [, verb = '', provider, extra] = args.positionals;
  const run = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (!run) throw new UsageError(`tau auth takes ${Object.keys(verbs).join(', ')}`);
  if (extra !== undefined) throw new UsageError(`tau auth ${verb} takes one provider`);
  if (provider === undefined && verb !== 'check') throw new UsageError(`tau auth ${verb} requires a provider`);
  const minLifeMs = minimumOf(args);
  const { root, project } = cliPaths(args);
  try {
    const { registry } = await openModels({ agentDir: root, env: process.env, project, ...modelOptionsOf(args) });
    await registry.load({ anyway: true });
    if (!registry.auth) throw new Error('The models are not loaded');
    return await run({ auth: registry.auth, provider, root, minLifeMs });
  } catch (error) {
    warn(messageOf(error));
    return 1;
  }
}

function minimumOf({ 'min-expiry': text }: CliArguments): number | undefined {
  if (text === undefined) return undefined;
  const ms = durationMs(text);
  if (ms === undefined) throw new UsageError(`--min-expiry takes 90s, 45m, 12h or 30d, not ${JSON.stringify(text)}`);
  return ms;
}

/** Without a name, checks every stored credential. Succeeds if all can be used. */
async function check({ auth, provider, root, minLifeMs }: AuthContext): Promise<number> {
  const providers = provider === undefined ? [...readCredentials(root).credentials.keys()] : [provider];
  const lines = await Promise.all(providers.map((id) => checkOne(auth, id, minLifeMs)));
  await printAndExit(lines.map(({ text }) => `${text}\n`).join('') || 'auth.json holds no credentials.\n');
  return lines.every(({ isUsable }) => isUsable) ? 0 : 1;
}

async function checkOne(auth: ProviderAuth, provider: string, minLifeMs: number | undefined) {
  try {
    await auth.currentKey(provider, minLifeMs);
    return { isUsable: true, text: `${provider}: ${kindOf(auth, provider)}` };
  } catch (error) {
    return { isUsable: false, text: `${provider}: ${messageOf(error)}` };
  }
}

function kindOf(auth: ProviderAuth, provider: string): string {
  const { expires } = auth.signInOf(provider) ?? {};
  if (expires === undefined) return 'API key';
  const signedIn = auth.signIns.isSubscription(provider) ? 'signed in with a plan' : 'signed in';
  const date = new Date(expires);
  // Permanent sign-ins have the largest number, which is no date.
  return Number.isNaN(date.getTime()) ? signedIn : `${signedIn}, renewed after ${date.toISOString().slice(0, 16)}Z`;
}

async function printApiKey({ auth, provider = '', minLifeMs }: AuthContext): Promise<number> {
  const key = await auth.currentKey(provider, minLifeMs);
  if (key === undefined) throw new Error(`${provider} needs no key`);
  return printAndExit(`${key}\n`);
}

async function printBearerToken(context: AuthContext): Promise<number> {
  const { auth, provider = '' } = context;
  if (!auth.signInOf(provider))
    throw new Error(`auth.json holds no sign-in for ${provider}. Run: tau login ${provider}`);
  return printApiKey(context);
}
