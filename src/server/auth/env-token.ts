const VARIABLE = 'PI_AUTH_TOKEN';

/**
 * Reads the token from the environment and deletes it there, so that no child inherits it. An empty token counts as
 * none.
 */
export function takeEnvToken(env: NodeJS.ProcessEnv): string | undefined {
  const token = env[VARIABLE];
  delete env[VARIABLE];
  return token === '' ? undefined : token;
}
