import type { Engine } from '../../engine/open.ts';
import type { ProviderAuth } from '../../model/keys/provider-auth.ts';
import { LoginCancelled, type LoginInteraction } from '../../model/sign-in/flow.ts';
import { messageOf } from '../../protocol/errors.ts';
import { agentDir } from '../../store/agent-dir.ts';
import { parseApiKey, readCredentials, removeCredential, storeApiKey } from '../../store/credentials.ts';
import { warn } from '../../system/terminal-text.ts';
import { type CliArguments, UnknownWordError, UsageError } from '../flags/flags.ts';
import { openAgentEngine } from '../lifetime.ts';
import { hasTerminal } from '../stdio.ts';
import { print, terminalInteraction } from './terminal-interaction.ts';

const NO_TERMINAL = 'needs a terminal. Programs send the commands login and set_credential instead';

const INTERRUPTED = 130;

/** `tau login [provider]`: signs in to a provider, or stores its key; without a name the user chooses one. */
export async function login(args: CliArguments): Promise<number> {
  const provider = providerIn(args);
  return inTerminal('login', async (interaction) => {
    const engine = await openAgentEngine({ ...args, 'no-session': 'true' });
    if (!engine) return 1;
    try {
      return await logIn(await authOf(engine), provider, interaction);
    } finally {
      await engine.close();
    }
  });
}

/** `tau logout [provider]`: removes the key or sign-in of a provider from auth.json. */
export async function logout(args: CliArguments): Promise<number> {
  const root = agentDir(process.env);
  const named = providerIn(args);
  if (named !== undefined) return remove(root, named);
  const stored = [...readCredentials(root).credentials.keys()];
  if (stored.length === 0) {
    print('auth.json holds no credentials.');
    return 0;
  }
  return inTerminal('logout', async ({ prompt }) => {
    const options = stored.map((id) => ({ id, label: id }));
    const chosen = await prompt({ type: 'select', message: 'Remove the credential of which provider?', options });
    if (chosen === undefined) throw new LoginCancelled();
    return remove(root, chosen);
  });
}

function providerIn({ positionals: [command, provider, extra] }: CliArguments): string | undefined {
  if (extra !== undefined) throw new UsageError(`tau ${command} takes one provider, not ${JSON.stringify(extra)} too`);
  return provider;
}

/** Runs work with the user at the terminal and reports its failure. */
async function inTerminal(command: string, work: (user: LoginInteraction) => Promise<number>): Promise<number> {
  if (!hasTerminal()) {
    warn(`tau ${command} ${NO_TERMINAL}`);
    return 1;
  }
  const interrupted = new AbortController();
  try {
    return await work(terminalInteraction(interrupted));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (interrupted.signal.aborted) return INTERRUPTED;
    warn(messageOf(error));
    return 1;
  }
}

async function authOf({ agent }: Engine): Promise<ProviderAuth> {
  await agent.addons.start();
  await agent.registry.load({ anyway: true });
  const { auth } = agent.registry;
  if (!auth) throw new Error('The models are not loaded');
  return auth;
}

async function logIn(auth: ProviderAuth, named: string | undefined, user: LoginInteraction): Promise<number> {
  const signIns = new Map(auth.loginProviders().map(({ id, name }) => [id, name]));
  const keyed = auth.keyedProviders().map(({ id }) => id);
  const all = [...new Set([...signIns.keys(), ...keyed])];
  const provider = named ?? (await chooseProvider(all, signIns, user));
  if (!all.includes(provider))
    throw new UnknownWordError(`Unknown provider: ${provider}`, { word: provider, known: all });
  const method = await chooseMethod({ signIn: signIns.has(provider), key: keyed.includes(provider) }, user);
  if (method === 'key') await enterKey(provider, user);
  else await auth.logIn(provider, user);
  print(method === 'key' ? `The key for ${provider} is stored.` : `Signed in to ${signIns.get(provider)}.`);
  return 0;
}

async function chooseProvider(
  providers: readonly string[],
  signIns: ReadonlyMap<string, string>,
  { prompt }: LoginInteraction,
): Promise<string> {
  const options = providers.map((id) => {
    const name = signIns.get(id);
    return { id, label: name === undefined ? `${id}: API key` : `${id}: ${name}` };
  });
  return chosen(await prompt({ type: 'select', message: 'Log in to which provider?', options }));
}

/** A provider may offer both. */
async function chooseMethod(
  offers: { readonly signIn: boolean; readonly key: boolean },
  { prompt }: LoginInteraction,
): Promise<string> {
  if (!offers.signIn || !offers.key) return offers.signIn ? 'signIn' : 'key';
  const options = [
    { id: 'signIn', label: 'Sign in' },
    { id: 'key', label: 'Enter an API key' },
  ];
  return chosen(await prompt({ type: 'select', message: 'How?', options }));
}

async function enterKey(provider: string, { prompt }: LoginInteraction): Promise<void> {
  const text = chosen(await prompt({ type: 'secret', message: `API key for ${provider}` }));
  await storeApiKey(agentDir(process.env), { provider, key: parseApiKey(text) });
}

function chosen(answer: string | undefined): string {
  if (answer === undefined) throw new LoginCancelled();
  return answer;
}

async function remove(root: string, provider: string): Promise<number> {
  try {
    if (await removeCredential(root, provider)) {
      print(`The credential for ${provider} is removed.`);
      return 0;
    }
    warn(`auth.json holds no credential for ${provider}`);
  } catch (error) {
    warn(messageOf(error));
  }
  return 1;
}
