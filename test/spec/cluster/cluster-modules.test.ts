import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { newHome, TAU } from '../../support/agent/test-agent.ts';
import { ONE_REPLICA, startNode } from '../../support/cluster/cluster-nodes.ts';
import { testCluster } from '../../support/cluster/test-cluster.ts';
import { startTarget, type Target } from '../../support/server/attack-target.ts';

const cluster = testCluster();

/** Text of the client of NATS, and of the log of a session. */
const MARKS = ['NatsConnectionImpl', 'Tau-Incarnation'];

it('[W149] a server without --cluster loads no code of the cluster and of NATS', async () => {
  const { cwd } = newHome();
  const alone = await loadedBy((env) => startTarget({ script: [{ text: 'hello' }], env }));
  const node = await loadedBy((env) => startNode(cluster.server.url, 'modules', { cwd, args: ONE_REPLICA, env }));

  for (const mark of MARKS) {
    const files = programFilesWith(mark);
    expect(node.filter((file) => files.includes(file))).not.toEqual([]);
    expect(alone.filter((file) => files.includes(file))).toEqual([]);
  }
});

/** The files of the program that a server has loaded when it ends after a run, as V8 reports them. */
async function loadedBy(start: (env: Record<string, string>) => Promise<Target>): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'coverage-'));
  const server = await start({ NODE_V8_COVERAGE: folder });
  const client = await server.connect({});
  await client.run('hello');
  await server.stop();
  // Agents report their own files.
  const reports = readdirSync(folder).filter((name) => name.startsWith(`coverage-${server.pid}-`));
  expect(reports).toHaveLength(1);
  return reports.flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { result: { url: string }[] };
    return result.map(({ url }) => basename(url));
  });
}

/** The names of the program's files that contain a text. */
function programFilesWith(mark: string): string[] {
  const folder = join(dirname(TAU), 'cli');
  return readdirSync(folder).filter((name) => readFileSync(join(folder, name), 'utf8').includes(mark));
}
