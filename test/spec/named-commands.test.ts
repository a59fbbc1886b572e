import { expect } from 'vitest';
import { verifies } from '../support/verifies.ts';

const builtins = ['/compact', '/new', '/model', '/quit', '/name x', '/settings'];

verifies('N1', 'get_commands answers a list', async ({ open }) => {
  const { peer } = await open();

  const response = await peer.request({ type: 'get_commands' });

  expect(response).toMatchObject({ command: 'get_commands', success: true, data: { commands: [] } });
});

verifies('N11', 'built-in commands are not listed', async ({ open }) => {
  const { peer } = await open();
  await peer.ok({ type: 'hello', builtins: false });

  const { commands } = await peer.ok({ type: 'get_commands' });

  expect(commands.filter(({ source }: { source: string }) => source === 'builtin')).toEqual([]);
});

verifies('N12', 'the text of a built-in command goes to the model as it is', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'read' }, { repeat: true }] });
  const before = await peer.ok({ type: 'get_state' });

  for (const message of builtins) await peer.run(message);

  const { messages } = await peer.ok({ type: 'get_messages' });
  const said = messages.flatMap(({ role, content }: { role: string; content: { text: string }[] }) =>
    role === 'user' ? [content[0]?.text] : [],
  );
  expect(said).toEqual(builtins);
  const { sessionId, model } = await peer.ok({ type: 'get_state' });
  expect({ sessionId, model }).toEqual({ sessionId: before.sessionId, model: before.model });
  const dispositions = peer.records.filter(({ command }) => command === 'prompt').map(({ data }) => data);
  expect(dispositions).toEqual(builtins.map(() => expect.objectContaining({ disposition: 'started' })));
});
