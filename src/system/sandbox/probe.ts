import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { guardLeftover, releaseLeftover, startGuardian } from '../processes/guardian.ts';
import { randomBytes } from '../random-bytes.ts';
import { withTimeout } from '../with-timeout.ts';
import { createSandbox } from './create-sandbox.ts';
import { findPrograms, type SandboxPrograms } from './programs.ts';
import { existingPath } from './roots.ts';
import type { Sandbox, SandboxOptions, SandboxProbe } from './sandbox.ts';
import { seccompFilter } from './seccomp.ts';

/** Replaces parts of the machine in a probe. */
export interface ProbeOptions {
  /** The home folder of the user by default. */
  readonly home?: string;
  /** Those of the system by default. */
  readonly programs?: SandboxPrograms;
}

const PROBE_MS = 20_000;

const INSTALL = 'install bubblewrap: apt install bubblewrap / dnf install bubblewrap';
const APPARMOR =
  'allow user namespaces for /usr/bin/bwrap by an AppArmor profile: apt install apparmor-profiles, then copy ' +
  '/usr/share/apparmor/extra-profiles/bwrap-userns-restrict to /etc/apparmor.d and reload AppArmor';
const NAMESPACES = 'allow user namespaces (user.max_user_namespaces above 0), or use --sandbox external in a container';
const CONTAINER = 'use --sandbox external where tau runs in a container of its own';

// Prints what each attempt ended with. A write outside is tried where it works without a sandbox.
const ATTEMPTS = `
const fs = require('node:fs');
const [inside, outside, socket] = process.argv.slice(1);
const write = (path) => {
  try { fs.writeFileSync(path, 'x'); return 'ok'; } catch (error) { return error.code; }
};
const results = { inside: write(inside), outside: write(outside) };
require('node:net').connect(socket).once('connect', () => report('ok')).once('error', ({ code }) => report(code));
function report(socket) {
  console.log(JSON.stringify({ ...results, socket }));
  process.exit();
}
`;

interface Attempts {
  readonly inside: string;
  readonly outside: string;
  readonly socket: string;
}

/**
 * Runs a command in a real sandbox and checks what it must not do.
 *
 * In some containers bwrap starts and confines nothing: its exit code proves nothing.
 */
export async function probeSandbox(options: ProbeOptions = {}): Promise<SandboxProbe> {
  const engine = process.platform === 'darwin' ? 'seatbelt' : 'bubblewrap';
  const missing = missingPart(options.programs ?? findPrograms([]));
  if (missing) return missing;
  const scratch = join(tmpdir(), `tau-probe-${randomBytes(8).toString('hex')}`);
  const leftover = { kind: 'tree', path: scratch } as const;
  startGuardian();
  guardLeftover(leftover);
  try {
    mkdirSync(scratch, { mode: 0o700 });
    const failure = await withTimeout(PROBE_MS, tryOut(scratch, options), 'The sandbox did not start in time');
    return failure === undefined ? { engine } : unavailable(failure, CONTAINER);
  } catch (error) {
    const { message } = error as Error;
    return unavailable(message, remedyFor(message));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
    releaseLeftover(leftover);
  }
}

const unavailable = (reason: string, remedy: string): SandboxProbe => ({ reason, remedy });

function missingPart({ bwrap }: SandboxPrograms): SandboxProbe | undefined {
  if (process.platform === 'darwin') return undefined;
  if (process.platform !== 'linux') return unavailable(`There is no sandbox for ${process.platform}`, CONTAINER);
  if (!seccompFilter({ unixSockets: false })) {
    return unavailable(`There is no sandbox for the architecture ${process.arch}`, CONTAINER);
  }
  return bwrap === undefined ? unavailable('bwrap is not installed', INSTALL) : undefined;
}

/** Returns what the sandbox does not forbid or allow; undefined when it holds. */
async function tryOut(scratch: string, { home = homedir(), programs }: ProbeOptions): Promise<string | undefined> {
  const cwd = join(scratch, 'work');
  mkdirSync(cwd);
  const sandbox = await createSandbox(probeOptions(cwd, home), programs);
  const outside = join(existingPath(home) ?? '/', `.tau-probe-${process.pid}`);
  const inside = join(cwd, 'file');
  try {
    const { inside: wrote, outside: escaped, socket } = await attempt(sandbox, [cwd, inside, outside]);
    if (wrote !== 'ok' || readFileSync(inside, 'utf8') !== 'x')
      return `A command cannot write in its folder (${wrote})`;
    if (escaped === 'ok') return 'A command can write outside of its folder';
    return socket === 'EPERM' ? undefined : `A command can connect to Unix sockets (${socket})`;
  } finally {
    await sandbox.close();
    rmSync(outside, { force: true });
  }
}

const probeOptions = (cwd: string, home: string): SandboxOptions => ({
  cwd,
  home,
  writable: [cwd],
  hidden: [],
  readOnly: false,
  network: 'none',
  mayConnect: async () => false,
  env: [],
  unixSockets: false,
  gitWrite: false,
});

async function attempt(sandbox: Sandbox, [cwd = '', inside = '', outside = '']: readonly string[]): Promise<Attempts> {
  // Nothing listens there: without a filter the answer is another error.
  const socket = join(cwd, 'socket');
  writeFileSync(socket, '');
  const attempts = ['-e', ATTEMPTS, inside, outside, socket];
  const { command, args, env } = await sandbox.confine({ command: process.execPath, args: attempts, cwd, env: {} });
  return new Promise((resolve, reject) => {
    execFile(command, args, { cwd: '/', env }, (error, stdout, stderr) => {
      if (error) reject(new Error(`The sandbox does not start: ${stderr.trim() || error.message}`));
      else resolve(JSON.parse(stdout));
    });
  });
}

function remedyFor(message: string): string {
  if (!/uid map|namespace|RTM_NEWADDR|Operation not permitted|Permission denied/i.test(message)) return CONTAINER;
  return isRestrictedByAppArmor() ? APPARMOR : NAMESPACES;
}

function isRestrictedByAppArmor(): boolean {
  try {
    return readFileSync('/proc/sys/kernel/apparmor_restrict_unprivileged_userns', 'utf8').trim() === '1';
  } catch {
    return false;
  }
}
