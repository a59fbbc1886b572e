import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

import { type SpawnAgentOptions, spawnAgent } from './spawn.node.ts';

it.each<[SpawnAgentOptions, string]>([
  [{}, ''],
  [{ approvals: { mode: 'ask' } }, ' --approvals ask'],
  [{ approvals: { mode: 'auto', sandbox: 'required' }, args: ['-c'] }, ' --approvals auto --sandbox required -c'],
])('an agent with the options %j gets them as flags', async (options, flags) => {
  const folder = mkdtempSync(join(tmpdir(), 'tau-spawn-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const command = join(folder, 'agent');
  writeFileSync(command, '#!/bin/sh\necho "$@" >&2\n', { mode: 0o755 });

  const agent = spawnAgent({ ...options, command });
  await agent.close();

  expect(agent.stderr()).toBe(`--mode rpc --stream delta${flags}\n`);
});
