import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..', '.peers');

/**
 * Programs to compare with. The first is a bundle that runs without its dependencies, which the public registry lacks; the
 * second is the newest that it has with all of them.
 */
const pinned = [
  { name: 'pi', from: '@earendil-works/pi-coding-agent', version: '1.5.0', isBundle: true },
  { name: 'pi', from: '@earendil-works/pi-coding-agent', version: '0.87.1' },
];

/** For peers that do not run on the current Node. */
const newerNode = { from: `node-${process.platform}-${process.arch}`, version: '22.23.3' };

/** Installs missing peers and returns those that can run, each with its Node; `log` gets a line about the others. */
export function installedPeers(log) {
  return pinned.flatMap((peer) => {
    const label = `${peer.name} ${peer.version}`;
    const folder = peer.isBundle ? unpacked(peer, log) : installed(peer, log);
    if (!folder) return [];
    const { bin, engines } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const node = nodeFor(engines?.node ?? '', { label, log });
    return node ? [{ label, program: join(folder, bin[peer.name]), node }] : [];
  });
}

/** The folder of a package below `.peers/`; undefined when it cannot be installed. */
function installed({ from, version }, log) {
  const packageRoot = rootOf({ from, version });
  const folder = join(packageRoot, 'node_modules', from);
  if (existsSync(folder)) return folder;
  log(`installing ${from}@${version} into .peers/`);
  mkdirSync(packageRoot, { recursive: true });
  const flags = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
  return npm(['install', '--prefix', packageRoot, ...flags, `${from}@${version}`], log) ? folder : undefined;
}

/** The folder of a package without its dependencies. */
function unpacked({ from, version }, log) {
  const packageRoot = rootOf({ from, version });
  const folder = join(packageRoot, 'package');
  if (existsSync(folder)) return folder;
  log(`unpacking ${from}@${version} into .peers/`);
  mkdirSync(packageRoot, { recursive: true });
  if (!npm(['pack', '--pack-destination', packageRoot, `${from}@${version}`], log)) return undefined;
  const archive = readdirSync(packageRoot).find((name) => name.endsWith('.tgz'));
  execFileSync('tar', ['-xzf', join(packageRoot, archive), '-C', packageRoot]);
  return folder;
}

const rootOf = ({ from, version }) => join(root, `${from.replaceAll('/', '-')}-${version}`);

/** Runs npm; returns whether it succeeded. */
function npm(args, log) {
  const { status, stderr } = spawnSync('npm', [...args, '--loglevel', 'error'], { encoding: 'utf8' });
  if (status === 0) return true;
  const [reason = 'npm failed'] = stderr.match(/^npm error (?!code).+$/m) ?? [];
  log(`${args.at(-1)} cannot be installed, and is left out: ${reason}`);
  return false;
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
