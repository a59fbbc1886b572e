import { version } from '../protocol/generated/version.ts';
import { PI_VERSION } from '../protocol/protocol-version.ts';

/** The variable by which a launcher passes the name that it stands for. */
export const NAME_VARIABLE = 'TAU_STARTED_AS';

/** Takes the name that tau was started under out of the environment, so that no child inherits it. */
export function takeProgramName(env: NodeJS.ProcessEnv): string {
  const name = env[NAME_VARIABLE];
  if (name === undefined) return 'tau';
  delete env[NAME_VARIABLE];
  return name;
}

/** The version that a program of this name prints: programs that start `pi` compare it with versions of pi. */
export const versionOf = (name: string): string => (name === 'pi' ? PI_VERSION : version);
