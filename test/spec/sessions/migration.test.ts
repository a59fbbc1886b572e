import { appendFileSync, readFileSync } from 'node:fs';
import { expect, onTestFinished } from 'vitest';
import { acquireLock } from '../../../src/system/files/lock.ts';
import { newHome, readSessionFile } from '../../support/agent/test-agent.ts';
import { assistantMessage, header, linesOf, storeSession, userEntry } from '../../support/sessions/stored-session.ts';
import { verifies } from '../../support/verifies.ts';

const timestamp = '2025-01-02T03:04:05.678Z';
const userMessage = (text: string) => ({ role: 'user', content: [{ type: 'text', text }], timestamp: 1 });

/** A version 1 session: a list whose compaction refers to a line index. */
const version1Lines = (cwd: string) => [
  { type: 'session', id: 'stored-1', timestamp, cwd },
  { type: 'message', timestamp, message: userMessage('old') },
  { type: 'message', timestamp, message: userMessage('kept') },
  { type: 'compaction', timestamp, summary: 'short', firstKeptEntryIndex: 2, tokensBefore: 100 },
  {
    type: 'message',
    timestamp,
    message: { role: 'hookMessage', customType: 'note', content: 'n', display: true, timestamp: 2 },
  },
  { type: 'message', timestamp, message: assistantMessage({ content: [{ type: 'text', text: 'new' }] }) },
];

verifies('J13', 'a version 1 session becomes a tree and continues', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, version1Lines(home.cwd));
  const { peer } = await open({ home, args: ['--session', path], script: [{ text: 'more' }] });

  const { messages } = await peer.ok({ type: 'get_messages' });
  await peer.run('next');

  const roles = messages.map(({ role }: { role: string }) => role);
  expect(roles).toEqual(['compactionSummary', 'user', 'custom', 'assistant']);
  const [top, ...entries] = readSessionFile(path);
  expect(top).toEqual({ type: 'session', version: 3, id: 'stored-1', timestamp, cwd: home.cwd });
  const ids = entries.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(entries.map(({ parentId }) => parentId)).toEqual([null, ...ids.slice(0, -1)]);
  expect(entries[2]).toMatchObject({ type: 'compaction', firstKeptEntryId: ids[1], summary: 'short' });
  expect(entries[2]).not.toHaveProperty('firstKeptEntryIndex');
  expect(entries.slice(0, 2).map(({ message }) => message)).toEqual([userMessage('old'), userMessage('kept')]);
});

verifies('J13', 'a version 2 session keeps its ids and gets the current names', async ({ open }) => {
  const home = newHome();
  const hook = {
    ...userEntry('bbbbbbbb', 'aaaaaaaa', ''),
    message: { role: 'hookMessage', customType: 'note', content: 'n', display: false, timestamp: 2 },
  };
  const path = storeSession(home, [header(home.cwd, { version: 2 }), userEntry('aaaaaaaa', null, 'first'), hook]);
  const [, plain] = linesOf(path);

  const { peer } = await open({ home, args: ['--session', path] });

  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'first' }], timestamp: 1 },
    { role: 'custom', customType: 'note', content: 'n', display: false, timestamp: 2 },
  ]);
  expect(readSessionFile(path)[0]).toEqual(header(home.cwd));
  expect(linesOf(path)[1]).toBe(plain);
  expect(readSessionFile(path)[2]).toMatchObject({ id: 'bbbbbbbb', parentId: 'aaaaaaaa', message: { role: 'custom' } });
});

verifies('J13', 'switch_session migrates a session once', async ({ open }) => {
  const home = newHome();
  const sessionPath = storeSession(home, version1Lines(home.cwd));
  const { peer } = await open({ home });
  await peer.ok({ type: 'switch_session', sessionPath });
  const migrated = readFileSync(sessionPath);

  await peer.ok({ type: 'new_session' });
  await peer.ok({ type: 'switch_session', sessionPath });

  expect(readSessionFile(sessionPath)[0]).toMatchObject({ version: 3 });
  expect(readFileSync(sessionPath)).toEqual(migrated);
});

verifies('J13', 'a session of a later version opens and keeps its version', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, [
    header(home.cwd, { version: 4, flavour: 'new' }),
    userEntry('aaaaaaaa', null, 'first'),
  ]);
  const { peer } = await open({ home, hasForeignFields: true, args: ['--session', path], script: [{ text: 'one' }] });

  await peer.run('next');

  expect(readSessionFile(path)[0]).toEqual(header(home.cwd, { version: 4, flavour: 'new' }));
});

verifies('J14 J16', 'an old session that another process has open is not migrated', async ({ open }) => {
  const home = newHome();
  const sessionPath = storeSession(home, version1Lines(home.cwd));
  const before = readFileSync(sessionPath);
  const lock = await acquireLock(sessionPath);
  onTestFinished(() => lock.release());
  const { peer } = await open({ home });

  const refusal = await peer.refused({ type: 'switch_session', sessionPath });

  expect(refusal).toMatchObject({ code: 'session_in_use', holder: { pid: process.pid } });
  expect(readFileSync(sessionPath)).toEqual(before);
  await lock.release();
  await peer.ok({ type: 'switch_session', sessionPath });
  expect(readSessionFile(sessionPath)[0]).toMatchObject({ version: 3 });
});

verifies('J10 J12 J13', 'a torn version 1 session is migrated and repaired at once', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, version1Lines(home.cwd));
  appendFileSync(path, '{"type":"message","timest');

  const { peer } = await open({ home, args: ['--session', path] });

  expect(await peer.find('session_repaired')).toMatchObject({ toolCallIds: [], tornBytes: 25 });
  expect(readSessionFile(path)).toHaveLength(6);
  expect(readSessionFile(path)[0]).toMatchObject({ version: 3 });
});
