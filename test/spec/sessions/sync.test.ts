import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { homeWithCommands } from '../../support/agent/extensions.ts';
import { NO_RETRY, newGate, newHome, writeSettings } from '../../support/agent/test-agent.ts';
import { entryIdOf } from '../../support/sessions/session-tree.ts';
import { verifies } from '../../support/verifies.ts';

/**
 * Preloaded into the process: delays every sync, also until the hold file is removed, and records the file size that it
 * made durable.
 */
const tracer = `
const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');
const note = (size) => fs.appendFileSync(process.env.SYNC_TRACE, size + '\\n');
for (const name of ['fsync', 'fdatasync']) {
  const original = fs[name];
  fs[name] = (fd, done) => {
    const { size } = fs.fstatSync(fd);
    const finish = (error) => {
      if (!error) note(size);
      done(error);
    };
    const begin = () => (fs.existsSync(process.env.SYNC_HOLD) ? setTimeout(begin, 5) : original(fd, finish));
    setTimeout(begin, 50);
  };
}
syncBuiltinESMExports();
`;

/** Prepares a home whose process records its syncs. */
function tracedHome(home = newHome()) {
  const [preload, trace, hold] = ['trace.cjs', 'trace.txt', 'hold'].map((name) => join(home.root, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(preload, tracer);
  writeFileSync(trace, '');
  const synced = () => Math.max(0, ...readFileSync(trace, 'utf8').split('\n').filter(Boolean).map(Number));
  return {
    home,
    synced,
    holdSyncs: () => writeFileSync(hold, ''),
    releaseSyncs: () => rmSync(hold),
    env: { NODE_OPTIONS: `--require ${preload}`, SYNC_TRACE: trace, SYNC_HOLD: hold },
  };
}

verifies(
  'J8',
  'the user message is synced before the model is called',
  async ({ open }) => {
    const { home, env, synced } = tracedHome();
    const gate = newGate();
    const { peer } = await open({ home, env, script: [{ steps: [{ await: gate.path }, { text: 'one' }] }] });
    await peer.ok({ type: 'prompt', message: 'first' });
    const { sessionFile } = await peer.ok({ type: 'get_state' });

    await peer.next((record) => record.type === 'message_start' && JSON.stringify(record).includes('"assistant"'));

    const { size } = statSync(sessionFile);
    expect(readFileSync(sessionFile, 'utf8')).toContain('"text":"first"');
    expect(synced()).toBe(size);
    gate.open();
  },
  ['stdio', 'unix'],
);

verifies(
  'J9',
  'all entries are synced before agent_settled',
  async ({ open }) => {
    const { home, env, synced } = tracedHome();
    const call = { toolCall: { name: 'bash', arguments: { command: 'echo hi' } } };
    const { peer } = await open({
      settings: NO_RETRY,
      home,
      env,
      script: [{ steps: [call] }, { text: 'done' }, { steps: [{ text: 'x' }, { cut: true }] }],
    });
    const { sessionFile } = await peer.ok({ type: 'get_state' });

    await peer.run('first');
    const afterFirst = [synced(), statSync(sessionFile).size];
    await peer.run('second');
    const afterSecond = [synced(), statSync(sessionFile).size];

    expect(afterFirst[0]).toBe(afterFirst[1]);
    expect(afterSecond[0]).toBe(afterSecond[1]);
    expect(afterSecond[1]).toBeGreaterThan(afterFirst[1] ?? 0);
  },
  ['stdio', 'unix'],
);

verifies(
  'J8 K19',
  'the user message is synced before the summary of a compaction is requested',
  async ({ open }) => {
    const { home, env, synced } = tracedHome();
    writeSettings(home, { compaction: { keepRecentTokens: 50 } });
    const gate = newGate();
    const usage = { usage: { input: 7000, output: 10 } };
    const { peer } = await open({
      home,
      env,
      script: [
        { steps: [{ text: 'one' }] },
        { steps: [{ text: 'two' }, usage] },
        { steps: [{ await: gate.path }, { text: 'short' }] },
        { text: 'three' },
      ],
    });
    await peer.run('word '.repeat(60));
    await peer.run('word '.repeat(60));
    await peer.ok({ type: 'set_model', provider: 'tau', modelId: 'scripted-small' });
    await peer.ok({ type: 'hello', heartbeatMs: 1 });
    const { sessionFile } = await peer.ok({ type: 'get_state' });
    await peer.ok({ type: 'prompt', message: 'the last' });
    await peer.next('compaction_start');
    await peer.next('heartbeat');

    expect(readFileSync(sessionFile, 'utf8')).toContain('"text":"the last"');
    await expect.poll(synced).toBe(statSync(sessionFile).size);
    gate.open();
    await peer.next('agent_settled');
    await peer.ok({ type: 'hello', heartbeatMs: 0 });
  },
  ['stdio', 'unix'],
);

verifies(
  'K19',
  'the file is synced before the summary of a branch is requested',
  async ({ open }) => {
    const { home, env, synced } = tracedHome();
    const gate = newGate();
    const script = [{ text: 'one' }, { text: 'two' }, { steps: [{ await: gate.path }, { text: 'short' }] }];
    const { peer } = await open({ home, env, script });
    await peer.run('first');
    await peer.run('second');
    await peer.ok({ type: 'set_session_name', name: 'not synced by itself' });
    const { sessionFile } = await peer.ok({ type: 'get_state' });
    const before = synced();

    const moved = peer.ok({ type: 'navigate_tree', targetId: await entryIdOf(peer, 'one'), summarize: true });

    const { size } = statSync(sessionFile);
    await expect.poll(synced).toBe(size);
    gate.open();
    await moved;
    expect(before).toBeLessThan(size);
  },
  ['stdio'],
);

verifies(
  'J9 R20',
  'agent_end of an aborted run does not wait for the sync, agent_settled does',
  async ({ open }) => {
    const { home, env, synced, holdSyncs, releaseSyncs } = tracedHome();
    const { peer } = await open({
      home,
      env,
      script: [{ steps: [{ text: 'one' }, { stall: true }] }, { text: 'two' }],
    });
    const { sessionFile } = await peer.ok({ type: 'get_state' });
    await peer.ok({ type: 'prompt', message: 'go' });
    await peer.next('message_update');
    holdSyncs();

    const aborted = peer.ok({ type: 'abort' });
    const end = await peer.next('agent_end');
    const atEnd = [synced(), statSync(sessionFile).size];
    releaseSyncs();
    const settled = await peer.next('agent_settled');
    const afterwards = synced();
    await aborted;

    expect(end).toMatchObject({ isTerminal: true });
    expect(settled).toMatchObject({ outcome: 'aborted' });
    expect(atEnd[0]).toBeLessThan(atEnd[1] ?? 0);
    expect(afterwards).toBe(atEnd[1]);
  },
  ['stdio', 'unix'],
);

verifies(
  'J9 R20',
  'a prompt between agent_end and agent_settled of an aborted run opens the next run',
  async ({ open }) => {
    const { env, home, holdSyncs, releaseSyncs } = tracedHome(homeWithCommands({ stop: 'ctx.abort();' }).home);
    const { peer } = await open({
      home,
      env,
      script: [{ steps: [{ text: 'one' }, { stall: true }] }, { text: 'two' }],
    });
    await peer.ok({ type: 'prompt', message: 'go' });
    await peer.next('message_update');
    holdSyncs();
    await peer.ok({ type: 'prompt', message: '/stop' });
    await peer.next('agent_end');

    const accepted = peer.ok({ type: 'prompt', message: 'again' });
    await peer.ok({ type: 'get_commands' });
    releaseSyncs();

    expect(await accepted).toMatchObject({ disposition: 'started' });
    expect(await peer.next('agent_settled')).toMatchObject({ outcome: 'aborted' });
    expect(await peer.next('agent_settled')).toMatchObject({ outcome: 'ok' });
  },
  ['stdio', 'unix'],
);
