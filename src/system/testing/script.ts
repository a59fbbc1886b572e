import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { afterAll, afterEach } from 'vitest';

const here = import.meta.dirname;
let scripts = 0;

/** Creates a folder for the tests of one file; it is removed after them. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tau-system-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Bundles TypeScript, with imports relative to src/system, into a file for a bare `node`, without sharp. */
export function compile(folder: string, source: string): string {
  const outfile = join(folder, `script-${++scripts}.mjs`);
  const contents = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);\n${source}`;
  buildSync({
    stdin: { contents, resolveDir: join(here, '..'), loader: 'ts' },
    outfile,
    bundle: true,
    external: ['sharp'],
    platform: 'node',
    format: 'esm',
    target: 'node20',
  });
  return outfile;
}

/** Starts processes that are killed after the test. */
export function processes(): (command: string, args: readonly string[], options?: SpawnOptions) => ChildProcess {
  const running = new Set<ChildProcess>();
  afterEach(() => {
    for (const child of running) child.kill('SIGKILL');
    running.clear();
  });
  return (command, args, options = {}) => {
    const child = spawn(command, args, options);
    running.add(child);
    return child;
  };
}

export async function readAll(stream: NodeJS.ReadableStream | null): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream ?? []) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}

export const exitOf = (child: ChildProcess): Promise<number | NodeJS.Signals | null> =>
  new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));

/** Waits for a condition that has no event. */
export async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`Never became true: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
