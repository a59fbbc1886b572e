import { homedir } from 'node:os';
import { messageOf } from '../protocol/errors.ts';

// A program may have to renew a sign-in over the network.
const CREDENTIAL_COMMAND_MS = 60_000;

/**
 * Runs a program that prints a credential and parses what it printed. Rejects with a message that names the command and
 * never contains its output.
 */
export async function readCredentialCommand<T>(
  command: string,
  env: Readonly<Record<string, string | undefined>>,
  parse: (output: string) => T,
): Promise<T> {
  const { captureAnew } = await import('../system/processes/capture.ts');
  const output = await captureAnew({ command, cwd: homedir(), env, limitMs: CREDENTIAL_COMMAND_MS }).catch((error) => {
    const isMissing = messageOf(error).endsWith('ended with code 127');
    throw isMissing ? new Error(`The command \`${command}\` is not installed`) : error;
  });
  try {
    return parse(output);
  } catch {
    throw new Error(`The command \`${command}\` printed no credentials that tau can read`);
  }
}
