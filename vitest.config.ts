import { realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// All files of the tests go into one folder, removed at the end.
process.env['TMPDIR'] = join(realpathSync(tmpdir()), `tau-${process.pid}`);

// Bash reads ~/.bashrc if its input is a socket, unless a shell started it. What that does is unknown, and may be slow.
process.env['SHLVL'] = '2';

// Counts executions of functions, which must be loaded after counting has started.
const ISOLATED = 'test/web/markdown-growth.test.ts';

// A short file that takes long.
const FIRST = 'test/spec/tools/mcp-conformance.test.ts';

/** Starts large files first, as vitest does, but before them one whose size does not show how long it takes. */
class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isFirst = ({ moduleId }: TestSpecification) => moduleId.endsWith(FIRST);
    return [...sorted.filter(isFirst), ...sorted.filter((file) => !isFirst(file))];
  }
}

// Run once more behind a front node, whose clients are in sessions of another node; `npm run soak` does that with all of them.
const BEHIND_FRONT = process.env['SOAK'] ? 'test/spec/server/*.test.ts' : 'test/spec/server/messages.test.ts';

const oxc = { jsx: { runtime: 'automatic', importSource: 'preact' } } as const;
const options = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  // Polling assertions get as much slack as the other timeouts.
  expect: { poll: { timeout: 30_000 } },
  pool: 'forks',
} as const;

export default defineConfig({
  test: {
    globalSetup: ['test/support/temporary-folder.ts', 'test/support/page/browser-setup.ts'],
    // Most tests wait for child processes.
    maxWorkers: 4,
    sequence: { sequencer: SlowestFirst },
    projects: [
      {
        oxc,
        test: {
          ...options,
          name: 'tau',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [ISOLATED],
          // Files share a process per worker: a process per file cost a fifth of the run.
          isolate: false,
        },
      },
      { oxc, test: { ...options, name: 'isolated', include: [ISOLATED] } },
      {
        oxc,
        test: {
          ...options,
          name: 'front',
          include: [BEHIND_FRONT],
          env: { TAU_TEST_CLUSTER: 'front' },
          isolate: false,
        },
      },
    ],
  },
});
