import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { byHand, calling, notesIn, pidsIn, writeServers } from '../../support/mcp.ts';
import { type Home, newHome, open } from '../../support/open.ts';
import { killAll, living, until } from '../../support/processes.ts';
import { verifies } from '../../support/verifies.ts';

/** Servers that do not leave of themselves, each with a child that has left its group. */
function stubborn(home: Home): string {
  const notes = join(home.root, 'notes');
  writeServers(home, {
    one: byHand({ notes, stays: true, child: true }),
    two: byHand({ notes, stays: true, child: true }),
  });
  onTestFinished(() => killAll(pidsIn(notes)));
  return notes;
}

verifies('N41', 'servers end with the agent', async ({ open: openAgent }) => {
  const home = newHome();
  const notes = stubborn(home);
  const { peer, close } = await openAgent({ home });
  await peer.ok({ type: 'set_auto_retry', enabled: true });
  expect(await living(pidsIn(notes))).toHaveLength(4);

  await close();

  expect(await living(pidsIn(notes))).toEqual([]);
});

it.each(['SIGKILL', 'SIGTERM', 'SIGHUP'] as const)(
  '[N41] servers end with an agent that dies of %s',
  async (signal) => {
    const home = newHome();
    const notes = stubborn(home);
    const { peer, process: agent } = await open('stdio', { home, script: calling('one__hang') });
    await peer.ok({ type: 'prompt', message: 'go' });
    await until(async () => notesIn(notes).includes('call hang'));
    expect(await living(pidsIn(notes))).toHaveLength(4);

    agent?.kill(signal);

    await until(async () => (await living(pidsIn(notes))).length === 0);
  },
);

it('[N41] servers end with an agent that is closed while it connects them', async () => {
  const home = newHome();
  const notes = join(home.root, 'notes');
  writeServers(home, { mute: byHand({ notes, silent: 'initialize', stays: true }) });
  onTestFinished(() => killAll(pidsIn(notes)));
  const { close } = await open('memory', { home });
  await until(async () => pidsIn(notes).length === 1);

  await close();

  expect(await living(pidsIn(notes))).toEqual([]);
});
