import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import {
  allNotifications,
  homeWithCommands,
  nextNotification,
  nextUiRequest,
  projectExtension,
  userExtension,
} from '../../support/agent/extensions.ts';
import { newHome, writeSettings } from '../../support/agent/test-agent.ts';
import { verifies } from '../../support/verifies.ts';

verifies('X53', 'each reload replaces the event bus, so that no handler runs twice', async ({ open }) => {
  const home = newHome();
  userExtension(
    home,
    'bus.ts',
    `export default (pi) => {
      let received = 0;
      pi.events.on('channel', () => received++);
      pi.registerCommand('again', { handler: async (_args, ctx) => ctx.reload() });
      pi.registerCommand('emit', { handler: async (_args, ctx) => { pi.events.emit('channel', 1); ctx.ui.notify(String(received)); } });
    }`,
  );
  const { peer } = await open({ home });
  for (let times = 0; times < 3; times++) await peer.ok({ type: 'prompt', message: '/again' });

  await peer.ok({ type: 'prompt', message: '/emit' });

  expect(await nextUiRequest(peer, 'notify')).toMatchObject({ message: '1' });
});

verifies('X53', 'a reload applies changed settings', async ({ open }) => {
  const home = newHome();
  writeSettings(home, { shellCommandPrefix: 'export WHEN=before' });
  userExtension(
    home,
    'again.ts',
    "export default (pi) => pi.registerCommand('again', { handler: async (_args, ctx) => ctx.reload() });",
  );
  const { peer } = await open({ home });
  const readVariable = async () => (await peer.ok({ type: 'bash', command: 'echo $WHEN' })).output;
  const before = await readVariable();
  writeSettings(home, { shellCommandPrefix: 'export WHEN=after' });

  await peer.ok({ type: 'prompt', message: '/again' });
  await peer.ok({ type: 'set_steering_mode', mode: 'all' });

  expect([before, await readVariable()]).toEqual(['before\n', 'after\n']);
});

verifies('Z24 N20', 'commands of a folder are available only in its sessions', async ({ open }) => {
  const home = newHome();
  const other = join(home.root, 'other');
  const template = join(other, '.pi', 'prompts', 'greet.md');
  mkdirSync(dirname(template), { recursive: true });
  writeFileSync(template, 'Say hello.');
  const otherAgent = await open({ home: { ...home, cwd: other } });
  await otherAgent.peer.run('hello');
  const { sessionFile } = await otherAgent.peer.ok({ type: 'get_state' });
  await otherAgent.close();
  const { peer } = await open({ home });
  const names = async () =>
    (await peer.ok({ type: 'get_commands' })).commands.map(({ name }: { name: string }) => name);
  const { sessionFile: ownFile } = await peer.ok({ type: 'get_state' });
  await peer.run('hello');

  const before = await names();
  await peer.ok({ type: 'switch_session', sessionPath: sessionFile });
  const inside = await names();
  await peer.ok({ type: 'switch_session', sessionPath: ownFile });

  expect([before, inside, await names()]).toEqual([[], ['greet'], []]);
});

verifies('Z24', 'project tools are removed when the session leaves the folder', async ({ open }) => {
  const home = newHome();
  projectExtension(
    home,
    'tool.ts',
    `export default (pi) => pi.registerTool({ name: 'local', description: 'Is here', parameters: { type: 'object', properties: {} }, execute: async () => ({ content: [] }) });`,
  );
  const other = join(home.root, 'other');
  mkdirSync(other);
  const otherAgent = await open({ home: { ...home, cwd: other } });
  await otherAgent.peer.run('hello');
  const { sessionFile } = await otherAgent.peer.ok({ type: 'get_state' });
  await otherAgent.close();
  const { peer } = await open({ home, args: ['--approve'] });
  await peer.ok({ type: 'get_commands' });
  const { activeTools } = await peer.ok({ type: 'get_state' });

  await peer.ok({ type: 'switch_session', sessionPath: sessionFile });

  expect(activeTools).toContain('local');
  expect((await peer.ok({ type: 'get_state' })).activeTools).not.toContain('local');
});

verifies('X45', 'turn numbers continue when handlers are registered during a run', async ({ open }) => {
  const home = newHome();
  userExtension(
    home,
    'turns.ts',
    `export default (pi) => {
      pi.on('turn_start', ({ turnIndex }, ctx) => ctx.ui.notify(JSON.stringify(turnIndex)));
      pi.on('tool_execution_start', () => { pi.on('turn_end', () => {})(); });
    }`,
  );
  const call = { steps: [{ toolCall: { name: 'bash', arguments: { command: 'true' } } }] };
  const { peer } = await open({ home, script: [call, call, { text: 'done' }] });

  await peer.run('go');

  expect(allNotifications(peer)).toEqual([0, 1, 2]);
});

verifies(
  'Z28',
  'a running command finishes before the end of input ends tau',
  async ({ open }) => {
    const { home } = homeWithCommands({
      slow: "await ctx.waitForIdle(); const done = await pi.exec('sh', ['-c', 'echo done > finished']); tell(ctx, done.code);",
    });
    const { peer, process: agent } = await open({ home });
    await peer.ok({ type: 'get_commands' });
    peer.send({ type: 'prompt', message: '/slow' });
    agent?.endInput();

    expect(await nextNotification(peer)).toBe(0);
    expect((await agent?.exited)?.code).toBe(0);
  },
  ['stdio'],
);
