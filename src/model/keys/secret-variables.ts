import { providerKeys } from './provider-keys.ts';

/** Variables that the user's other programs need, too. */
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

// The variables that hold keys of model providers, and tau's own token.
const secretVariables: ReadonlySet<string> = new Set(
  [...Object.values(providerKeys).flat(), 'PI_AUTH_TOKEN'].filter((name) => !sharedVariables.has(name)).sort(),
);

// Variables without which no cloud can be used by credentials that are no key.
const cloudVariables = [
  'AWS_PROFILE',
  'AWS_ACCESS_KEY_ID',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'GOOGLE_CLOUD_LOCATION',
  'CLOUD_ML_REGION',
];

type Environment = Readonly<Record<string, string | undefined>>;

/** The environment without secrets, for tools. `extraNames`: secrets that the user's files name. */
export const withoutSecrets = (env: Environment, extraNames: readonly string[] = []): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !secretVariables.has(name) && !extraNames.includes(name)));

/** Whether the environment may hold a key or credentials of a model provider. */
export const mayHoldCredentials = (env: Environment): boolean =>
  secretsSet(env).length > 0 || cloudVariables.some((name) => env[name]);

/** The names of the secret variables that are set. */
export const secretsSet = (env: Environment): string[] => [...secretVariables].filter((name) => env[name]);
