import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { newHome, readSessionFile } from '../../support/agent/test-agent.ts';
import { runTau } from '../../support/processes/program.ts';
import { header, shortConversation, storeSession } from '../../support/sessions/stored-session.ts';
import { LOCAL_TRANSPORTS, verifies } from '../../support/verifies.ts';

verifies('S54', 'a deleted session is moved unchanged into .trash beside it', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, shortConversation(home.cwd), { name: 'one.jsonl' });
  const before = readFileSync(path);
  const { peer } = await open({ home });

  const { trashPath } = await peer.ok({ type: 'delete_session', sessionPath: path });

  expect(trashPath).toBe(join(dirname(path), '.trash', 'one.jsonl'));
  expect(existsSync(path)).toBe(false);
  expect(readFileSync(trashPath)).toEqual(before);
});

verifies('S54', 'a deleted session never overwrites a file in the trash', async ({ open }) => {
  const home = newHome();
  const { peer } = await open({ home });
  const trashPaths: string[] = [];

  for (const id of ['a', 'b', 'c']) {
    const sessionPath = storeSession(home, shortConversation(home.cwd, { id }), { name: 'same.jsonl' });
    trashPaths.push((await peer.ok({ type: 'delete_session', sessionPath })).trashPath);
  }

  expect(trashPaths.map((path) => readSessionFile(path)[0].id)).toEqual(['a', 'b', 'c']);
});

verifies('S54', 'deleting through a symbolic link moves the file that it points to', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, [header(home.cwd)]);
  symlinkSync(path, join(home.cwd, 'link.jsonl'));
  const { peer } = await open({ home });

  const { trashPath } = await peer.ok({ type: 'delete_session', sessionPath: 'link.jsonl' });

  expect(readSessionFile(trashPath)).toHaveLength(1);
  expect(existsSync(path)).toBe(false);
});

verifies('S54', 'delete_session rejects a file that is not a session and leaves it unchanged', async ({ open }) => {
  const home = newHome();
  const { peer } = await open({ home });
  writeFileSync(join(home.cwd, 'notes.jsonl'), 'notes\n');

  expect(await peer.refused({ type: 'delete_session', sessionPath: 'notes.jsonl' })).toMatchObject({
    code: 'not_a_session',
  });
  expect(await peer.refused({ type: 'delete_session', sessionPath: '.' })).toMatchObject({ code: 'not_a_session' });
  expect(await peer.refused({ type: 'delete_session', sessionPath: 'no.jsonl' })).toMatchObject({
    code: 'session_not_found',
    error: expect.stringMatching(/^Session not found: .*no\.jsonl$/),
  });
  expect(readdirSync(home.cwd)).toEqual(['notes.jsonl']);
});

verifies('S55', 'a session that is open anywhere can be neither deleted nor renamed', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, shortConversation(home.cwd));
  const holder = await open({ home, args: ['--session', path] });
  const { peer } = await open({ home });
  const { sessionFile } = await peer.ok({ type: 'get_state' });
  await holder.peer.greeted();

  const elsewhere = await peer.refused({ type: 'delete_session', sessionPath: path });
  const here = await peer.refused({ type: 'delete_session', sessionPath: sessionFile });
  const renamed = await peer.refused({ type: 'rename_session', sessionPath: path, name: 'x' });

  expect(elsewhere).toMatchObject({ code: 'session_in_use', holder: { pid: expect.any(Number) } });
  expect(here).toMatchObject({
    code: 'session_in_use',
    error: expect.stringContaining('The agent is in this session'),
  });
  expect(renamed).toMatchObject({ code: 'session_in_use' });
  expect([existsSync(path), existsSync(sessionFile)]).toEqual([true, true]);
});

verifies(
  'S56',
  'a deleted session is neither listed nor found again',
  async ({ open }) => {
    const home = newHome();
    const sessions = join(home.agentDir, 'sessions');
    const path = storeSession(home, shortConversation(home.cwd, { id: 'gone' }));
    const args = ['--session-dir', sessions];
    const { peer, close } = await open({ home, args });
    writeFileSync(join(sessions, 'flat.jsonl'), readFileSync(path, 'utf8').replace('gone', 'flat'));

    await peer.ok({ type: 'delete_session', sessionPath: path });
    await peer.ok({ type: 'delete_session', sessionPath: join(sessions, 'flat.jsonl') });

    expect(await peer.ok({ type: 'list_sessions' })).toEqual({ sessions: [] });
    await close();
    for (const id of ['gone', 'flat']) {
      expect(await runTau(home, ['--mode', 'rpc', ...args, '--session', id], { input: '' })).toMatchObject({
        code: 1,
        stderr: `No session found matching '${id}'\n`,
      });
    }
    const again = await open({ home, args: [...args, '--continue'] });
    expect(await again.peer.ok({ type: 'get_state' })).toMatchObject({ messageCount: 0 });
  },
  LOCAL_TRANSPORTS,
);

verifies('S57 S25', 'rename_session renames a stored session in its file', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, shortConversation(home.cwd));
  const { peer } = await open({ home });
  const recordCount = (await peer.ok({ type: 'get_state' })) && peer.records.length;

  const response = await peer.request({ type: 'rename_session', sessionPath: path, name: ' new\r\nname ' });

  expect(response).toMatchObject({ success: true });
  expect(response).not.toHaveProperty('data');
  expect(peer.records.slice(recordCount).filter(({ type }) => type !== 'response')).toEqual([]);
  expect(readSessionFile(path).at(-1)).toMatchObject({ type: 'session_info', name: 'new name', parentId: 'bbbbbbbb' });
  expect(await peer.ok({ type: 'list_sessions' })).toMatchObject({ sessions: [{ name: 'new name' }] });
  await peer.ok({ type: 'switch_session', sessionPath: path });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionName: 'new name', messageCount: 2 });
});

verifies('S57', 'rename_session of the current session acts as set_session_name', async ({ open }) => {
  const { peer } = await open();
  const { sessionFile } = await peer.ok({ type: 'get_state' });

  await peer.ok({ type: 'rename_session', sessionPath: sessionFile, name: 'here' });

  expect(await peer.find('session_info_changed')).toEqual({ type: 'session_info_changed', name: 'here' });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionName: 'here' });
});

verifies('S57', 'rename_session rejects an empty name and a wrong path', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, shortConversation(home.cwd));
  const before = readFileSync(path);
  writeFileSync(join(home.cwd, 'notes.jsonl'), 'notes\n');
  const { peer } = await open({ home });

  const rename = (sessionPath: string, name: string) => peer.refused({ type: 'rename_session', sessionPath, name });

  expect(await rename(path, ' \n')).toMatchObject({ code: 'invalid_params', error: 'Session name cannot be empty' });
  expect(await rename('no.jsonl', 'x')).toMatchObject({ code: 'session_not_found' });
  expect(await rename('notes.jsonl', 'x')).toMatchObject({ code: 'not_a_session' });
  expect(readFileSync(path)).toEqual(before);
});
