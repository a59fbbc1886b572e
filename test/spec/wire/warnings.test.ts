import { expect, it } from 'vitest';
import { collectEvents, createTestSession } from '../../support/agent/agent-session.ts';
import { newHome, openTestAgent, writeUserFile } from '../../support/agent/test-agent.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { verifies } from '../../support/verifies.ts';

const warnings = (records: readonly WireRecord[]) => records.filter(({ type }) => type === 'warning');

it('[U32] warnings about files are sent once, as events and on stderr', async () => {
  const home = newHome();
  writeUserFile(home, 'settings.json', '{"steeringMode": 7}');
  writeUserFile(home, 'models.json', '{"providers": 7}');
  writeUserFile(home, 'mcp.json', '{"mcpServers": 7}');
  const agent = await openTestAgent('stdio', { home });
  const { peer } = agent;

  await peer.ok({ type: 'get_available_models' });
  await peer.ok({ type: 'get_available_models' });
  await peer.run('Hi');
  await agent.close();

  expect(warnings(peer.records)).toMatchObject([
    { source: 'settings', message: expect.stringContaining('steeringMode') },
    { source: 'models', message: 'models.json: providers must be an object' },
    { source: 'mcp', message: expect.stringContaining('mcpServers must be an object') },
  ]);
  const lines = agent.process?.stderr().trimEnd().split('\n');
  expect(lines?.toSorted()).toEqual(
    warnings(peer.records)
      .map(({ message }) => `tau: ${message}`)
      .toSorted(),
  );
});

verifies('U32', 'a file that breaks later is reported when it is read', async ({ open }) => {
  const home = newHome();
  const { peer } = await open({ home });
  await peer.ok({ type: 'get_available_models' });
  expect(warnings(peer.records)).toEqual([]);

  writeUserFile(home, 'models.json', '{"providers": 7}');
  await peer.ok({ type: 'get_available_models' });

  expect(warnings(peer.records)).toMatchObject([{ source: 'models' }]);
});

it('[U32] listeners of createAgentSession get the warnings from before they listened, once, and later ones', async () => {
  const home = newHome();
  writeUserFile(home, 'settings.json', '{"steeringMode": 7}');
  const { session } = await createTestSession({}, home);
  const events = collectEvents(session);

  await session.prompt('Hi');
  writeUserFile(home, 'settings.json', '{"steeringMode": 7, "followUpMode": 8}');
  await session.reload();
  await session.prompt('Hi');

  expect(events.filter(({ type }) => type === 'warning')).toMatchObject([
    { source: 'settings', message: expect.stringContaining('steeringMode') },
    { source: 'settings', message: expect.stringContaining('followUpMode') },
  ]);
});
