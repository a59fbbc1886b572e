const VARIABLE = 'PI_AUTH_TOKEN';

/** The token that the environment gives, and takes it out of there: no child inherits it. An empty one is none. */
export function takeEnvToken(env: NodeJS.ProcessEnv): string | undefined {
  const token = env[VARIABLE];
  delete env[VARIABLE];
  return token === '' ? undefined : token;
}
