import { realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// Everything that tests make goes into one folder, which goes with them.
process.env['TMPDIR'] = join(realpathSync(tmpdir()), `tau-${process.pid}`);

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/support/temporary.ts', 'test/support/browser-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // What is waited for is waited for like everything else.
    expect: { poll: { timeout: 30_000 } },
    pool: 'forks',
    // Most tests wait for processes of their own.
    maxWorkers: 3,
  },
});
