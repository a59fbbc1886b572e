import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect } from 'vitest';
import { sessionDirFor } from '../../../src/store/agent-dir.ts';
import { newHome } from '../../support/agent/test-agent.ts';
import { itOnOneServer, startServer } from '../../support/server/test-server.ts';
import { briefConversation } from '../../support/sessions/session-tree.ts';

const TALK = [{ text: 'The secret.', when: '.', keep: true }];

/** An open session, and a file with its id in a folder that a limited token may open. */
async function serverWithCopy() {
  const home = newHome();
  const [secret, allowed] = [join(home.root, 'secret'), join(home.root, 'allowed')] as const;
  for (const folder of [secret, allowed]) mkdirSync(folder);
  const limited = { name: 'Limited', scopes: ['view', 'prompt', 'bash'], allowedPaths: [allowed] };
  const server = await startServer({ home, script: TALK, tokens: { 'token-of-a-limited': limited } });
  const owner = await server.attach({ cwd: secret });
  await owner.run('Hi');
  const { sessionFile } = await owner.ok({ type: 'get_state' });
  const copy = join(allowed, 'copy.jsonl');
  const [header = ''] = readFileSync(sessionFile, 'utf8').split('\n');
  writeFileSync(copy, `${JSON.stringify({ ...JSON.parse(header), cwd: allowed })}\n`);
  return { home, server, owner, sessionFile, copy, secret, allowed };
}

itOnOneServer('a copy of a file is not in the cluster')(
  '[W91 A7] a file with the id of an open session in another folder does not give access to that session',
  async () => {
    const { server, owner, copy, secret, allowed } = await serverWithCopy();
    const token = 'token-of-a-limited';

    const intruder = server.connect({ token, session: copy });

    expect(await intruder.ended).toMatchObject({ code: 4409 });
    expect(intruder.records[0]).toMatchObject({ type: 'server_error', code: 'session_in_use' });
    expect(JSON.stringify(intruder.records)).not.toContain(secret.slice(1).replaceAll('/', '-'));
    const other = await server.attach({ token, cwd: allowed });
    expect(await other.refused({ type: 'switch_session', sessionPath: copy })).toMatchObject({
      code: 'session_in_use',
    });
    await other.request({ type: 'rename_session', sessionPath: copy, name: 'stolen' });
    expect(await owner.ok({ type: 'get_state' })).not.toHaveProperty('sessionName');
    await other.request({ type: 'delete_session', sessionPath: copy });
    await owner.run('Still here');
  },
);

itOnOneServer('a copy of a file is not in the cluster')(
  '[W91] a copy is rejected while the original is open, and its id opens the original',
  async () => {
    const { home, server, owner, sessionFile } = await serverWithCopy();
    const folder = sessionDirFor(home.agentDir, home.cwd);
    const copy = join(folder, basename(sessionFile));
    expect(folder).not.toBe(dirname(sessionFile));
    mkdirSync(folder, { recursive: true });
    copyFileSync(sessionFile, copy);

    const rejected = server.connect({ session: copy });
    expect(await rejected.ended).toMatchObject({ code: 4409 });
    expect(rejected.records[0]).toMatchObject({ error: `A session with the same id is in use: ${copy}` });
    const { cursor } = owner;
    await owner.run('More');
    const resumed = server.connect({ ...cursor, stream: 'delta' });
    await resumed.next('agent_settled');

    expect(resumed.records[0]).toMatchObject({ resume: 'ok' });
    expect(await briefConversation(resumed)).toHaveLength(4);
  },
);
