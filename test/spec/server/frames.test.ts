import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fixture, nextUiRequest } from '../../support/agent/extensions.ts';
import { newHome } from '../../support/agent/test-agent.ts';
import { startServer } from '../../support/server/test-server.ts';
import { hostTool, setHostTools, toolCallStep, toolEnds } from '../../support/tools/host-tools.ts';

const DIALOGS = { agentArgs: ['-e', fixture('dialogs')] };

it('[W90] a frame cannot smuggle a command to the agent', async () => {
  const home = newHome();
  const guest = { name: 'Guest', scopes: ['view', 'prompt'], allowedPaths: ['/'] };
  const server = await startServer({ home, ...DIALOGS, tokens: { 'token-of-a-guest': guest } });
  const owner = await server.attach();
  const peer = await server.attach({ session: owner.cursor.session, token: 'token-of-a-guest' });
  const path = join(home.root, 'made');
  const bash = { id: '9', type: 'bash', command: `touch '${path}'` };
  expect(await peer.refused(bash)).toMatchObject({ code: 'permission_denied' });
  await peer.ok({ type: 'prompt', message: '/interview' });
  const { id } = await nextUiRequest(peer, 'select');

  const text = JSON.stringify(bash);
  peer.send({ type: 'extension_ui_response', id, value: 'red', text, name: text, problem: text, params: bash });

  expect(await nextUiRequest(peer, 'confirm')).toMatchObject({ message: 'You said red' });
  await owner.ok({ type: 'bash', command: 'true' });
  expect(existsSync(path)).toBe(false);
});

it('[W90] a malformed UI response resolves its dialog', async () => {
  const server = await startServer(DIALOGS);
  const peer = await server.attach();

  for (const malformed of ['"value":"re', '"value":5}', '"cancelled":"perhaps"}']) {
    await peer.ok({ type: 'prompt', message: '/interview' });
    const { id } = await nextUiRequest(peer, 'select');
    peer.send(`{"type":"extension_ui_response","id":${JSON.stringify(id)},${malformed}`);

    expect(await peer.next('extension_ui_resolved')).toMatchObject({ id });
    const { id: next, message } = await nextUiRequest(peer, 'confirm');
    expect(message).toBe('You said undefined');
    peer.send({ type: 'extension_ui_response', id: next, cancelled: true });
    for (const method of ['input', 'editor'])
      peer.send({ type: 'extension_ui_response', id: (await nextUiRequest(peer, method)).id, cancelled: true });
    await nextUiRequest(peer, 'notify');
  }
});

it('[W90] a malformed host tool result fails its call', async () => {
  const script = [
    { steps: [toolCallStep('mine')], when: '^Hi' },
    { steps: [toolCallStep('mine')], when: '^Again' },
    { text: 'Done.', when: '.', keep: true },
  ];
  const server = await startServer({ script });
  const peer = await server.attach();
  await setHostTools(peer, hostTool('mine'));

  for (const [message, malformed] of [
    ['Hi', '"result":5}'],
    ['Again', '"result":{"content":[{"type":"te'],
  ]) {
    await peer.ok({ type: 'prompt', message });
    const { id } = await peer.next('host_tool_call');
    peer.send(`{"type":"host_tool_result","id":${JSON.stringify(id)},${malformed}`);
    await peer.next('agent_settled');
  }

  expect(toolEnds(peer.records)).toMatchObject([{ isError: true }, { isError: true }]);
});
