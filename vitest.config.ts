import { realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// All files of the tests go into one folder, removed at the end.
process.env['TMPDIR'] = join(realpathSync(tmpdir()), `tau-${process.pid}`);

export default defineConfig({
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/support/temporary-folder.ts', 'test/support/page/browser-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Polling assertions get as much slack as the other timeouts.
    expect: { poll: { timeout: 30_000 } },
    pool: 'forks',
    // Most tests wait for child processes.
    maxWorkers: 3,
  },
});
