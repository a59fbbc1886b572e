import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type Home, newHome, openTestAgent } from '../../support/agent/test-agent.ts';
import { filterAlive, killAll, waitUntil } from '../../support/processes/processes.ts';
import { notedPids, readNotes, stdioServer, toolCallScript, writeMcpServers } from '../../support/tools/mcp.ts';
import { verifies } from '../../support/verifies.ts';

/** Configures servers that do not exit by themselves, each with a child outside its process group. */
function configureStubbornServers(home: Home): string {
  const notes = join(home.root, 'notes');
  writeMcpServers(home, {
    one: stdioServer({ notes, stays: true, child: true }),
    two: stdioServer({ notes, stays: true, child: true }),
  });
  onTestFinished(() => killAll(notedPids(notes)));
  return notes;
}

verifies('N41', 'MCP servers end with the agent', async ({ open: openAgent }) => {
  const home = newHome();
  const notes = configureStubbornServers(home);
  const { peer, close } = await openAgent({ home });
  await peer.ok({ type: 'set_auto_retry', enabled: true });
  expect(await filterAlive(notedPids(notes))).toHaveLength(4);

  await close();

  expect(await filterAlive(notedPids(notes))).toEqual([]);
});

it.each(['SIGKILL', 'SIGTERM', 'SIGHUP'] as const)(
  '[N41] MCP servers end with an agent killed by %s',
  async (signal) => {
    const home = newHome();
    const notes = configureStubbornServers(home);
    const { peer, process: agent } = await openTestAgent('stdio', { home, script: toolCallScript('one__hang') });
    await peer.ok({ type: 'prompt', message: 'go' });
    await waitUntil(async () => readNotes(notes).includes('call hang'));
    expect(await filterAlive(notedPids(notes))).toHaveLength(4);

    agent?.kill(signal);

    await waitUntil(async () => (await filterAlive(notedPids(notes))).length === 0);
  },
);

it('[N41] MCP servers end with an agent that is closed while it connects to them', async () => {
  const home = newHome();
  const notes = join(home.root, 'notes');
  writeMcpServers(home, { mute: stdioServer({ notes, silent: 'initialize', stays: true }) });
  onTestFinished(() => killAll(notedPids(notes)));
  const { close } = await openTestAgent('memory', { home });
  await waitUntil(async () => notedPids(notes).length === 1);

  await close();

  expect(await filterAlive(notedPids(notes))).toEqual([]);
});
