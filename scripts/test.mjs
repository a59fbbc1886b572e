// `npm test`: builds tau, then runs the tests and, beside them, `npm run check`, whose output is printed at the end.
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

await must(run('npm', ['run', '--silent', 'build']));
await must(run('node', ['scripts/coverage.mjs', '--reset']));
const checked = run('npm', ['run', '--silent', 'check'], 'pipe');
await must(run('npx', ['vitest', 'run']));
await must(run('node', ['scripts/coverage.mjs']));
const { output } = await must(checked);
process.stdout.write(output);

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
