import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fixture } from '../../support/agent/extensions.ts';
import { newToken, startTarget, TARGET_TOKEN, type Target } from '../../support/server/attack-target.ts';

const REFUSED_COMMANDS = 400;

interface AuditLine {
  readonly message: string;
  readonly outcome: string;
  readonly grant?: string;
  readonly count?: number;
}

function linesIn({ home }: Target, name: string): AuditLine[] {
  const path = join(home.agentDir, 'server', name);
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
  return lines.map((line) => JSON.parse(line));
}

const deeds = (target: Target) => linesIn(target, 'audit.jsonl');
const accesses = (target: Target) => linesIn(target, 'audit-access.jsonl');

it('[A22] refused commands of a viewer are counted and displace no deed', async () => {
  const target = await startTarget();
  const owner = await target.connect();
  await owner.run('say hello');
  const { sessionId } = await owner.location();
  await owner.ok({ type: 'bash', command: 'true' });
  const viewer = await newToken(target.home, { scope: 'view' });
  const client = await target.connect({ token: viewer.token, session: sessionId });
  await client.location();
  const before = deeds(target);

  for (let count = 0; count < REFUSED_COMMANDS; count++)
    client.send({ type: 'bash', id: `b${count}`, command: 'true' });
  await client.find(({ id }) => id === `b${REFUSED_COMMANDS - 1}`);
  client.socket.close();
  await client.ended;

  const ofViewer = () => accesses(target).filter(({ grant }) => grant === viewer.id);
  await expect.poll(() => ofViewer().at(-1)?.message).toBe('close');
  const refusals = ofViewer().filter(({ outcome }) => outcome === 'permission_denied');
  const total = refusals.reduce((sum, { count = 1 }) => sum + count, 0);
  expect(deeds(target)).toEqual(before);
  expect(before.map(({ message }) => message)).toEqual(['prompt', 'bash']);
  expect(refusals.length).toBeLessThan(30);
  expect(total).toBe(REFUSED_COMMANDS);
});

it('[A23] answers to dialogs are audited as deeds, and those of viewers as refused', async () => {
  const target = await startTarget({ script: [], agentArgs: ['-e', fixture('dialogs')] });
  const owner = await target.connect();
  await owner.location();
  const viewer = await newToken(target.home, { scope: 'view' });
  const { sessionId } = await owner.location();
  await owner.ok({ type: 'prompt', message: '/interview now' });
  const { id } = await owner.find(({ type, method }) => type === 'extension_ui_request' && method === 'select');
  const client = await target.connect({ token: viewer.token, session: sessionId });
  await client.location();

  client.send({ type: 'extension_ui_response', id, value: 'red' });
  await client.ok({ type: 'get_state' });
  owner.send({ type: 'extension_ui_response', id, value: 'red' });
  await owner.find(({ type, method }) => type === 'extension_ui_request' && method === 'confirm');
  owner.send({ type: 'extension_ui_response', id, value: 'red' });
  await owner.ok({ type: 'get_state' });

  const answers = (lines: AuditLine[]) => lines.filter(({ message }) => message === 'extension_ui_response');
  expect(answers(deeds(target))).toMatchObject([{ outcome: 'ok', sessionId }]);
  expect(answers(accesses(target))).toMatchObject([{ outcome: 'permission_denied', grant: viewer.id }]);
});

it('[A23] wrong tokens are audited, over HTTP and for sockets', async () => {
  const target = await startTarget();
  await target.get('/api/me', { headers: { authorization: 'Bearer wrong' } });
  await (await target.connect({ token: 'wrong' })).ended;
  await target.get('/api/me', { headers: { authorization: `Bearer ${TARGET_TOKEN}` } });

  expect(accesses(target).map(({ message, outcome }) => [message, outcome])).toEqual([
    ['refused', 'permission_denied'],
    ['refused', 'permission_denied'],
  ]);
});
