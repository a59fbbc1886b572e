import { cpSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type Home, newHome } from '../../support/agent/test-agent.ts';
import { auditLogs } from '../../support/cluster/audit.ts';
import { ONE_REPLICA, startNode } from '../../support/cluster/cluster-nodes.ts';
import { type NatsServer, startNatsServer } from '../../support/cluster/nats-server.ts';
import { metricsOf } from '../../support/cluster/node-metrics.ts';
import { runTau } from '../../support/processes/program.ts';
import type { Target } from '../../support/server/attack-target.ts';

/** The number of messages of a session, as a client of this node receives them. */
async function messagesThrough(node: Target, session: string): Promise<number> {
  const client = await node.connect({ session });
  return (await client.next('state_synced')).messages.length;
}

/** A session that went on after a backup of the NATS server, which is put back. `betweenCopies` runs before its restart. */
async function restoreBackup(betweenCopies: (home: Home, aside: string) => void = () => {}) {
  let server: NatsServer = await startNatsServer();
  const { storeDir, url } = server;
  const port = Number(new URL(url).port);
  onTestFinished(() => server.stop());
  const whileStopped = async (work: () => void) => {
    await server.stop();
    work();
    server = await startNatsServer({ storeDir, port });
  };
  const { root, cwd } = newHome();
  const home = newHome();
  const backup = join(root, 'backup');
  await runTau(home, ['cluster', 'init', url, '--max-bytes', '64M', ...ONE_REPLICA]);
  const start = (name: string, own = newHome()) => startNode(url, name, { home: own, cwd, args: ONE_REPLICA });

  const before = await start('a', home);
  const first = await before.connect({});
  await first.run('one');
  const { sessionId } = await first.location();
  await before.stop();
  await whileStopped(() => cpSync(storeDir, backup, { recursive: true }));
  const after = await start('a', home);
  const second = await after.connect({ session: sessionId });
  await second.run('two');
  const { sessionFile } = await second.location();
  await after.stop();
  const aside = join(root, 'aside');
  await whileStopped(() => {
    rmSync(storeDir, { recursive: true });
    renameSync(backup, storeDir);
    betweenCopies(home, aside);
  });
  return { url, home, sessionId, sessionFile, aside, start };
}

it('[W142 W160] after the restore of a backup a node never mixes its newer copy of a session with the older log', async () => {
  const { url, home, sessionId, sessionFile, aside, start } = await restoreBackup();
  const refusal = { code: 1011, reason: expect.stringContaining('ends before records that it acknowledged') };
  const a = await start('a', home);
  expect(await (await a.connect({ session: sessionId })).ended).toMatchObject(refusal);
  expect((await metricsOf(a))['tau_cluster_log_regressed_total']).toBeGreaterThan(0);
  // Another node continues the older log, until its numbers are beyond those of the copy.
  const b = await start('b');
  const third = await b.connect({ session: sessionId });
  for (const message of ['three', 'four', 'five']) await third.run(message);
  expect(await messagesThrough(a, sessionId)).toBe(8);
  await b.stop();
  expect(await (await a.connect({ session: sessionId })).ended).toMatchObject(refusal);
  expect(readFileSync(sessionFile, 'utf8')).toContain('"two"');

  renameSync(sessionFile, aside);
  expect(await messagesThrough(a, sessionId)).toBe(8);
  await a.stop();
  await auditLogs([url]);
});

it('[W156] the import of copies that were moved aside adds what a restored backup lacks', async () => {
  const { url, home, sessionId, sessionFile, aside, start } = await restoreBackup(({ agentDir }, target) =>
    renameSync(join(agentDir, 'server/cluster/sessions'), target),
  );
  const a = await start('a', home);
  const file = join(aside, basename(sessionFile));
  const imported = await runTau(home, ['cluster', 'import', url, file, '--node', 'a', ...ONE_REPLICA]);

  expect(imported, imported.stderr).toMatchObject({ code: 0 });
  const b = await start('b');
  expect(await messagesThrough(b, sessionId)).toBe(4);
  expect(await messagesThrough(a, sessionId)).toBe(4);
  await auditLogs([url]);
});
