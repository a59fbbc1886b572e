import { providerKeys } from './provider-keys.ts';

/** What the user's other programs live on as well. */
export const sharedVariables: ReadonlySet<string> = new Set([
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'GH_TOKEN',
  'GITHUB_TOKEN',
  'HOME',
  'HOSTNAME',
  'LANG',
  'LOGNAME',
  'PATH',
  'SHELL',
  'TMPDIR',
  'USER',
]);

/** The environment variables in which users hand tau the keys of model providers, and its own token. */
const secretVariables: ReadonlySet<string> = new Set(
  [...Object.values(providerKeys).flat(), 'PI_AUTH_TOKEN'].filter((name) => !sharedVariables.has(name)).sort(),
);

type Environment = Readonly<Record<string, string | undefined>>;

/** What tools may know of the environment. `more`: what the user's files name as secrets. */
export const withoutSecrets = (env: Environment, extraNames: readonly string[] = []): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !secretVariables.has(name) && !extraNames.includes(name)));

/** The names of those that are set. */
export const secretsSet = (env: Environment): string[] => [...secretVariables].filter((name) => env[name]);
