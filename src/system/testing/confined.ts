import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { type GroupProcess, spawnGroup } from '../processes/process-group.ts';
import { createSandbox } from '../sandbox/create-sandbox.ts';
import type { SandboxPrograms } from '../sandbox/programs.ts';
import type { Sandbox, SandboxOptions } from '../sandbox/sandbox.ts';

/** Folders of one test file, outside of the temporary folder: inside a sandbox that is another one. */
export function scratchFolder(): string {
  const folder = realpathSync(mkdtempSync('/var/tmp/tau-confined-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The output and exit of a command. */
export interface ConfinedResult {
  readonly code: number | null;
  readonly output: string;
}

/** A session with a sandbox in a home folder of its own. */
export interface ConfinedSession {
  readonly home: string;
  readonly cwd: string;
  readonly sandbox: Sandbox;
  /** Runs a shell command to its end. */
  readonly run: (command: string, env?: Readonly<Record<string, string>>) => Promise<ConfinedResult>;
  /** Starts a shell command. */
  readonly start: (command: string, env?: Readonly<Record<string, string>>) => Promise<Started>;
}

export interface Started {
  readonly group: GroupProcess;
  readonly printed: () => string;
}

export interface SessionSetup {
  readonly options?: Partial<SandboxOptions>;
  /** Prepares files before the sandbox is created. */
  readonly prepare?: (folders: { readonly home: string; readonly cwd: string }) => void;
  readonly programs?: SandboxPrograms;
  /** The folder of the session, below home. */
  readonly folder?: string;
  /** A session whose folders this one shares. */
  readonly beside?: Pick<ConfinedSession, 'home' | 'cwd'>;
}

/** Opens sandboxed sessions that are closed after the test. */
export function confinedSessions(base: string): (setup?: SessionSetup) => Promise<ConfinedSession> {
  const open = new Set<Sandbox>();
  let count = 0;
  beforeAll(() => mkdirSync(base, { recursive: true }));
  afterEach(async () => {
    for (const sandbox of open) await sandbox.close();
    open.clear();
  });
  return async ({ options = {}, prepare, programs, folder = 'work', beside } = {}) => {
    const home = beside?.home ?? join(base, `home-${++count}`);
    const cwd = beside?.cwd ?? join(home, folder);
    mkdirSync(cwd, { recursive: true });
    prepare?.({ home, cwd });
    const sandbox = await createSandbox({ ...sandboxOptions(home, cwd), ...options }, programs);
    open.add(sandbox);
    const start = (command: string, env: Readonly<Record<string, string>> = {}) =>
      startIn({ sandbox, cwd, home }, command, env);
    return { home, cwd, sandbox, start, run: async (command, env) => resultOf(await start(command, env)) };
  };
}

/** Options of a sandbox without network that may write to its folder. */
export const sandboxOptions = (home: string, cwd: string): SandboxOptions => ({
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

let outputs = 0;

async function startIn(
  { sandbox, cwd, home }: { readonly sandbox: Sandbox; readonly cwd: string; readonly home: string },
  command: string,
  env: Readonly<Record<string, string>>,
): Promise<Started> {
  const launch = { command: '/bin/bash', args: ['-c', command], cwd, env: { ...process.env, HOME: home, ...env } };
  const path = join(home, `..`, `output-${++outputs}`);
  const output = openSync(path, 'a');
  try {
    const group = spawnGroup({ ...(await sandbox.confine(launch)), output, family: 'confined' });
    return { group, printed: () => readFileSync(path, 'utf8') };
  } finally {
    closeSync(output);
  }
}

async function resultOf({ group, printed }: Started): Promise<ConfinedResult> {
  const { code } = await group.exited;
  return { code, output: printed().trim() };
}
