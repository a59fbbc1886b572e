import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { newHome } from '../../support/agent/test-agent.ts';
import { shortConversation, storeSession } from '../../support/sessions/stored-session.ts';
import { verifies } from '../../support/verifies.ts';

verifies('S70', 'a deleted session is restored unchanged, and found again', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, shortConversation(home.cwd), { name: 'one.jsonl' });
  const before = readFileSync(path);
  const { peer } = await open({ home });
  const { trashPath } = await peer.ok({ type: 'delete_session', sessionPath: path });

  expect(await peer.ok({ type: 'restore_session', trashPath })).toEqual({ sessionPath: path });

  expect(readFileSync(path)).toEqual(before);
  expect(existsSync(trashPath)).toBe(false);
  expect(await peer.ok({ type: 'list_sessions' })).toMatchObject({ sessions: [{ path, id: 'stored-1' }] });
  await peer.ok({ type: 'switch_session', sessionPath: path });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionId: 'stored-1', messageCount: 2 });
});

verifies('S70', 'a restored session replaces no file', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, shortConversation(home.cwd, { id: 'first' }), { name: 'same.jsonl' });
  const { peer } = await open({ home });
  const { trashPath } = await peer.ok({ type: 'delete_session', sessionPath: path });
  storeSession(home, shortConversation(home.cwd, { id: 'second' }), { name: 'same.jsonl' });

  const { sessionPath } = await peer.ok({ type: 'restore_session', trashPath });

  expect(sessionPath).toBe(join(dirname(path), 'same.2.jsonl'));
  const { sessions } = await peer.ok({ type: 'list_sessions' });
  expect(sessions.map(({ id }: { id: string }) => id).toSorted()).toEqual(['first', 'second']);
});

verifies('S71', 'restore_session rejects what is no session in the trash, and a second time', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, shortConversation(home.cwd));
  const { peer } = await open({ home });
  const outside = await peer.refused({ type: 'restore_session', trashPath: path });
  const { trashPath } = await peer.ok({ type: 'delete_session', sessionPath: path });
  writeFileSync(join(dirname(trashPath), 'notes.jsonl'), 'notes\n');
  await peer.ok({ type: 'restore_session', trashPath });

  const again = await peer.refused({ type: 'restore_session', trashPath });
  const foreign = await peer.refused({ type: 'restore_session', trashPath: join(dirname(trashPath), 'notes.jsonl') });
  const invalid = [undefined, '', 5, null].map((value) => peer.refused({ type: 'restore_session', trashPath: value }));

  expect(outside).toMatchObject({ code: 'session_not_found', error: `Not in the trash: ${path}` });
  expect(again).toMatchObject({ code: 'session_not_found' });
  expect(foreign).toMatchObject({ code: 'not_a_session' });
  for (const refused of invalid) expect(await refused).toMatchObject({ code: 'invalid_params' });
  expect(readdirSync(dirname(trashPath))).toEqual(['notes.jsonl']);
});
