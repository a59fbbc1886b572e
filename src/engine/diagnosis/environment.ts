import type { Finding } from '../../protocol/generated/vocabulary.ts';
import { fine, warning } from './finding.ts';

type Environment = Readonly<Record<string, string | undefined>>;

// Variables that change how Node runs, with their effect.
const oddities: Readonly<Record<string, string>> = {
  NODE_OPTIONS: 'it changes how Node runs, and tools inherit it. Unset it if that is not meant for tau',
  NODE_EXTRA_CA_CERTS: 'reading the certificates slows every start. Unset it where no such server is spoken to',
  NODE_V8_COVERAGE: 'everything runs slower and leaves files. Unset it unless coverage is wanted',
  NODE_TLS_REJECT_UNAUTHORIZED: 'connections may be trusted that must not be. Unset it',
};

/** Reports unusual environment variables and those for tau, without their values. */
export function environmentFindings(env: Environment): readonly Finding[] {
  const odd = Object.entries(oddities).filter(([name]) => env[name]);
  const own = Object.keys(env)
    .filter((name) => /^(PI|TAU)_/.test(name))
    .sort();
  return [
    fine('environment', own.length === 0 ? 'No variable for tau is set' : `Set for tau: ${own.join(', ')}`),
    ...odd.map(([name, effect]) => warning('environment', `${name} is set: ${effect}`)),
  ];
}
