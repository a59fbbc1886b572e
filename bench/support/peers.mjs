import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..', '.peers');

/** What tau is measured beside. The second is the newest whose dependencies the public registry has. */
const pinned = [
  { name: 'pi', from: '@earendil-works/pi-coding-agent', version: '1.5.0' },
  { name: 'pi', from: '@earendil-works/pi-coding-agent', version: '0.87.1' },
];

/** For peers that do not run on the Node that runs this. */
const newerNode = { from: `node-${process.platform}-${process.arch}`, version: '22.23.3' };

/** Installs what is missing and answers what can be run, each with the Node for it; `say` is told of the others. */
export function installedPeers(say) {
  return pinned.flatMap((peer) => {
    const label = `${peer.name} ${peer.version}`;
    const folder = installed(peer, say);
    if (!folder) return [];
    const { bin, engines } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const node = nodeFor(engines?.node ?? '', { label, say });
    return node ? [{ label, program: join(folder, bin[peer.name]), node }] : [];
  });
}

/** The folder of a package below `.peers/`; undefined when it cannot be had. */
function installed({ from, version }, say) {
  const place = join(root, `${from.replaceAll('/', '-')}-${version}`);
  const folder = join(place, 'node_modules', from);
  if (existsSync(folder)) return folder;
  say(`installing ${from}@${version} into .peers/`);
  mkdirSync(place, { recursive: true });
  const flags = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error'];
  const { status, stderr } = spawnSync('npm', ['install', '--prefix', place, ...flags, `${from}@${version}`], {
    encoding: 'utf8',
  });
  if (status === 0) return folder;
  const [reason = 'npm failed'] = stderr.match(/^npm error (?!code).+$/m) ?? [];
  say(`${from}@${version} cannot be installed, and is left out: ${reason}`);
  return undefined;
}

function nodeFor(wanted, { label, say }) {
  if (isAtLeast(process.versions.node, wanted)) return process.execPath;
  const folder = isAtLeast(newerNode.version, wanted) ? installed(newerNode, say) : undefined;
  if (!folder) {
    say(`${label} needs Node ${wanted}, and is left out`);
    return undefined;
  }
  say(`${label} needs Node ${wanted}: it and its references run on ${newerNode.version}`);
  return join(folder, 'bin', 'node');
}

/** Whether a version is new enough for a range such as `>=22.19.0`; other ranges are taken to fit. */
function isAtLeast(version, range) {
  const oldest = /^>=\s*(\d+)\.(\d+)/.exec(range)?.slice(1).map(Number) ?? [0, 0];
  const [major, minor] = version.split('.').map(Number);
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
}
