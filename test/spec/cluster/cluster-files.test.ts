import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { SessionManager } from '../../../src/embed/sessions/session-manager.ts';
import { newHome, openTestAgent } from '../../support/agent/test-agent.ts';
import { auditLogs } from '../../support/cluster/audit.ts';
import { ONE_REPLICA, startNode } from '../../support/cluster/cluster-nodes.ts';
import { testCluster } from '../../support/cluster/test-cluster.ts';
import { runTau } from '../../support/processes/program.ts';

const cluster = testCluster();

afterEach(async () => {
  await auditLogs([cluster.server.url]);
});

const REFUSAL = 'Session belongs to a cluster: use tau attach';

it('[W157] tau without the cluster refuses a session file of a cluster, does not list it, and leaves it as it is', async () => {
  const home = newHome();
  const node = await startNode(cluster.server.url, 'a', { home, cwd: home.cwd, args: ONE_REPLICA });
  const client = await node.connect({});
  await client.run('one');
  const { sessionFile, sessionId } = await client.location();
  await node.stop();
  const path = join(home.agentDir, 'server', 'cluster', 'sessions', sessionFile.split('/').at(-1) ?? '');
  const before = readFileSync(path);
  const link = join(home.cwd, 'link.jsonl');
  symlinkSync(path, link);

  for (const args of [
    ['-p', '--session', path, 'two'],
    ['-p', '--session', link, 'two'],
    ['-p', '--fork', path, 'two'],
    ['--mode', 'json', '--session', path, 'two'],
    ['sessions', 'rename', path, 'other'],
    ['sessions', 'rm', path],
  ]) {
    const { code, stdout, stderr } = await runTau(home, args, { input: '' });
    expect({ args, code, stdout, stderr }).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(REFUSAL),
    });
  }
  const { peer } = await openTestAgent('stdio', { home });
  for (const command of [
    { type: 'switch_session', sessionPath: path },
    { type: 'rename_session', sessionPath: path, name: 'other' },
    { type: 'delete_session', sessionPath: path },
  ])
    expect(await peer.refused(command)).toMatchObject({
      code: 'session_in_use',
      error: expect.stringContaining(REFUSAL),
    });
  for (const open of [() => SessionManager.open(path), () => SessionManager.forkFrom(path, home.cwd)])
    expect(open).toThrow(expect.objectContaining({ code: 'session_in_use' }));

  expect((await runTau(home, ['sessions', 'list', '--all'])).stdout).toBe('No sessions.\n');
  const continued = await runTau(home, ['--mode', 'json', '-c', 'two'], { input: '' });
  expect(continued.stdout).not.toContain(sessionId);
  expect(readFileSync(path)).toEqual(before);
  expect(
    readdirSync(join(home.agentDir, 'server', 'cluster', 'sessions')).filter((name) => name.endsWith('.jsonl')),
  ).toHaveLength(1);
});
