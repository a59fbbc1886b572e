// `npm run dev -- [arguments of tau]`: rebuilds and restarts tau when a source file changes. Without arguments it runs `tau serve`.
import { spawn, spawnSync } from 'node:child_process';
import { watch } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
/** An editor writes several files at once: one build for all of them. */
const QUIET_MS = 150;
const args = process.argv.length > 2 ? process.argv.slice(2) : ['serve'];
let tau;
let timer;

for (const folder of ['src', 'scripts']) {
  watch(join(root, folder), { recursive: true }, (_event, name) => {
    if (!name || /\.test\.tsx?$|~$/.test(name)) return;
    clearTimeout(timer);
    timer = setTimeout(() => rebuild(join(folder, name)), QUIET_MS);
  });
}
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    if (!isRunning(tau)) process.exit();
    tau.once('exit', () => process.exit());
    tau.kill(signal);
  });
}
rebuild();

/** Keeps the running program when the build fails. */
function rebuild(changed) {
  if (changed) console.error(`dev: ${changed} changed`);
  const { status } = spawnSync(process.execPath, [join(root, 'scripts/build.mjs')], { stdio: 'inherit' });
  if (status !== 0) console.error('dev: the build failed; waiting for the next change');
  else restart();
}

function restart() {
  if (isRunning(tau)) {
    tau.once('exit', start);
    tau.kill('SIGTERM');
  } else start();
}

function start() {
  tau = spawn(process.execPath, [join(root, 'dist/tau.cjs'), ...args], { stdio: 'inherit' });
}

function isRunning(child) {
  return child !== undefined && child.exitCode === null && child.signalCode === null;
}
