// `npm test`: builds tau, then runs the tests and, beside them, `npm run check`, whose output is printed at the end.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

const installed = installBubblewrap();
await must(run('npm', ['run', '--silent', 'build']));
await must(run('node', ['scripts/coverage.mjs', '--reset']));
const checked = run('npm', ['run', '--silent', 'check'], 'pipe');
await installed;
await must(run('npx', ['vitest', 'run']));
await must(run('node', ['scripts/coverage.mjs']));
const { output } = await must(checked);
process.stdout.write(output);

/** Installs bubblewrap from Debian's packages, for the tests of the sandbox. Without it they skip, or fail on CI. */
async function installBubblewrap() {
  // The folders in which tau looks for it.
  const isThere = ['/usr/bin', '/usr/local/bin', '/bin'].some((folder) => existsSync(join(folder, 'bwrap')));
  if (process.platform !== 'linux' || process.getuid() !== 0 || isThere) return;
  const install =
    'apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends bubblewrap';
  const { code, output } = await run('sh', ['-c', `{ ${install}; } 2>&1`], 'pipe');
  if (code !== 0) process.stderr.write(`bubblewrap could not be installed:\n${output}`);
}

/** Runs a program to its end; with `pipe` its output is kept. */
function run(command, args, output = 'inherit') {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', output, output] });
  const pieces = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece) => pieces.push(piece));
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ code, output: Buffer.concat(pieces) }));
  });
}

/** Ends this program with the code of one that failed. */
async function must(running) {
  const result = await running;
  if (result.code === 0) return result;
  process.stderr.write(result.output);
  process.exit(result.code ?? 1);
}
