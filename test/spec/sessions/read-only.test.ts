import { appendFileSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { newHome, sessionFiles } from '../../support/agent/test-agent.ts';
import { runTau } from '../../support/processes/program.ts';
import { shortConversation, storeSession } from '../../support/sessions/stored-session.ts';
import { verifies } from '../../support/verifies.ts';

const WRITES = [
  { type: 'prompt', message: 'Hi' },
  { type: 'abort_and_prompt', message: 'Hi' },
  { type: 'bash', command: 'true' },
  { type: 'set_session_name', name: 'Other' },
  { type: 'set_thinking_level', level: 'high' },
  { type: 'navigate_tree', targetId: 'aaaaaaaa' },
  { type: 'new_session' },
  { type: 'clone' },
  { type: 'set_todos', phases: [] },
];

verifies(
  'J32',
  'with --read-only an agent reads a session without its lock and refuses every command that may write',
  async ({ open }) => {
    const home = newHome();
    const path = storeSession(home, shortConversation(home.cwd));
    appendFileSync(path, '{"type":"mess');
    const before = readFileSync(path, 'utf8');
    const { peer, close } = await open({ home, args: ['--session', path, '--read-only'] });
    const other = await open({ home, args: ['--session', path, '--read-only'] });

    for (const command of WRITES)
      expect(await peer.refused(command)).toMatchObject({
        code: 'permission_denied',
        error: `The session is open for reading only: ${command.type} is refused`,
      });
    expect((await other.peer.ok({ type: 'get_messages' })).messages).toHaveLength(2);
    const { findings } = await peer.ok({ type: 'preflight' });
    expect(findings).toContainEqual({
      check: 'session file',
      status: 'ok',
      message: expect.stringContaining('reading only'),
    });
    await close();
    await other.close();

    expect(readFileSync(path, 'utf8')).toBe(before);
    expect(sessionFiles(home)).toEqual([path]);
  },
  ['stdio'],
);

verifies(
  'J32',
  '--read-only creates no session file and goes with neither --fork nor --name, and only with --mode rpc',
  async ({ open }) => {
    const home = newHome();
    const { peer, close } = await open({ home, args: ['--session-id', 'missing', '--read-only'] });
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionId: 'missing', messageCount: 0 });
    await close();

    const missing = await runTau(home, ['--mode', 'rpc', '--read-only', '--session', './missing.jsonl']);
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('Session not found') });
    for (const [args, error] of [
      [['--read-only', '-p', 'Hi'], '--read-only goes with --mode rpc'],
      [['--mode', 'rpc', '--read-only', '--fork', 'x'], '--fork and --read-only contradict each other'],
      [['--mode', 'rpc', '--read-only', '--name', 'x'], '--name and --read-only contradict each other'],
    ] as const)
      expect(await runTau(home, args)).toMatchObject({ stderr: expect.stringContaining(error) });
    expect(sessionFiles(home)).toEqual([]);
  },
  ['stdio'],
);
