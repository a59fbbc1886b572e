import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..', '.peers');

/** Programs to compare with. The second is the newest whose dependencies the public registry has. */
const pinned = [
  { name: 'pi', from: '@earendil-works/pi-coding-agent', version: '1.5.0' },
  { name: 'pi', from: '@earendil-works/pi-coding-agent', version: '0.87.1' },
];

/** For peers that do not run on the current Node. */
const newerNode = { from: `node-${process.platform}-${process.arch}`, version: '22.23.3' };

/** Installs missing peers and returns those that can run, each with its Node; `log` gets a line about the others. */
export function installedPeers(log) {
  return pinned.flatMap((peer) => {
    const label = `${peer.name} ${peer.version}`;
    const folder = installed(peer, log);
    if (!folder) return [];
    const { bin, engines } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const node = nodeFor(engines?.node ?? '', { label, log });
    return node ? [{ label, program: join(folder, bin[peer.name]), node }] : [];
  });
}

/** The folder of a package below `.peers/`; undefined when it cannot be installed. */
function installed({ from, version }, log) {
  const packageRoot = join(root, `${from.replaceAll('/', '-')}-${version}`);
  const folder = join(packageRoot, 'node_modules', from);
  if (existsSync(folder)) return folder;
  log(`installing ${from}@${version} into .peers/`);
  mkdirSync(packageRoot, { recursive: true });
  const flags = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error'];
  const { status, stderr } = spawnSync('npm', ['install', '--prefix', packageRoot, ...flags, `${from}@${version}`], {
    encoding: 'utf8',
  });
  if (status === 0) return folder;
  const [reason = 'npm failed'] = stderr.match(/^npm error (?!code).+$/m) ?? [];
  log(`${from}@${version} cannot be installed, and is left out: ${reason}`);
  return undefined;
}

function nodeFor(range, { label, log }) {
  if (isAtLeast(process.versions.node, range)) return process.execPath;
  const folder = isAtLeast(newerNode.version, range) ? installed(newerNode, log) : undefined;
  if (!folder) {
    log(`${label} needs Node ${range}, and is left out`);
    return undefined;
  }
  log(`${label} needs Node ${range}: it and its references run on ${newerNode.version}`);
  return join(folder, 'bin', 'node');
}

/** Whether a version satisfies a range such as `>=22.19.0`; ranges of other forms count as satisfied. */
function isAtLeast(version, range) {
  const oldest = /^>=\s*(\d+)\.(\d+)/.exec(range)?.slice(1).map(Number) ?? [0, 0];
  const [major, minor] = version.split('.').map(Number);
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
}
