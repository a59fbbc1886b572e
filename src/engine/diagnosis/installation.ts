import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { release } from 'node:os';
import { version } from '../../protocol/generated/version.ts';
import type { Finding } from '../../protocol/generated/vocabulary.ts';
import { PROTOCOL_VERSION } from '../../protocol/protocol-version.ts';
import { fine, problem, warning } from './finding.ts';

/** Checks ripgrep: the search tools run it from a package per platform. */
export const ripgrepFinding = (): Finding =>
  packageFinding('ripgrep', {
    packages: ['@vscode/ripgrep', `@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`],
    loss: 'search is slower or not there',
  });

/** Checks sharp: it shrinks large images. */
export const sharpFinding = (): Finding =>
  packageFinding('sharp', { packages: ['sharp'], loss: 'images are sent as large as they are' });

// Each package is a dependency of the one before it.
function packageFinding(name: string, { packages, loss }: { packages: readonly string[]; loss: string }): Finding {
  let base: string | undefined = importBase();
  for (const packageName of packages) {
    base = locate(packageName, base);
    if (base !== undefined) continue;
    return warning(name, `${packageName} is not installed: ${loss}. Install tau again, with optional dependencies`);
  }
  return fine(name, 'Installed');
}

/** Resolves a package like an import of this file, without loading it. */
function locate(name: string, importer: string): string | undefined {
  try {
    return createRequire(importer).resolve(name);
  } catch {
    return undefined;
  }
}

/** Base of import resolution. The program is built as CommonJS, where `import.meta` is empty. */
const importBase = () => (import.meta.url as string | undefined) ?? realpathSync(process.argv[1] ?? process.execPath);

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

// The oldest supported Node.
const OLDEST_NODE = [20, 19] as const;

/** Reports the versions of tau, Node and the system. */
export function versionFindings(): readonly Finding[] {
  return [
    fine('tau', `${version}, protocol ${PROTOCOL_VERSION}`),
    nodeFinding(process.versions.node),
    fine('system', `${process.platform} ${release()}, ${process.arch}`),
  ];
}

export function nodeFinding(node: string): Finding {
  const [major = 0, minor = 0] = node.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  const isNewEnough = major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
  if (isNewEnough) return fine('node', node);
  return problem('node', `${node} is older than ${OLDEST_NODE.join('.')}. Install a newer Node`);
}
