import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SessionManager } from '../../../src/index.ts';
import { createTestSession } from '../../support/agent/agent-session.ts';
import { fixture, nextUiRequest, userExtension } from '../../support/agent/extensions.ts';
import { newHome, readSessionFile, sessionFiles } from '../../support/agent/test-agent.ts';
import { AGENT_SWITCHES_SESSION, LOCAL_TRANSPORTS, verifies } from '../../support/verifies.ts';

const args = ['-e', fixture('delegate')];
const callDelegate = (task: string) => ({ toolCall: { name: 'delegate', arguments: { task } } });

verifies(
  'X90',
  'an extension runs an agent with a session of its own, and the model of its own agent',
  async ({ open }) => {
    const { peer, home } = await open({
      args,
      script: [
        { steps: [callDelegate('inner question')], when: 'outer' },
        { text: 'inner answer', when: 'inner' },
        { text: 'outer answer' },
      ],
    });

    await peer.run('outer question');

    const { result } = (await peer.find('tool_execution_end')) as unknown as { result: { details: { file: string } } };
    expect(result).toMatchObject({
      content: [{ text: 'inner answer' }],
      details: { tools: ['read'], prompt: 'You are a helper.', stopReason: 'stop' },
    });
    expect(sessionFiles(home)).toContain(result.details.file);
    const inner = readSessionFile(result.details.file).filter(({ type }) => type === 'message');
    expect(inner.map(({ message }) => message.role)).toEqual(['user', 'assistant']);
    const { messages } = await peer.ok({ type: 'get_messages' });
    expect(messages.at(-1)).toMatchObject({ content: [{ text: 'outer answer' }] });
  },
  LOCAL_TRANSPORTS,
);

verifies(
  'X90',
  'an abort of the run reaches the agent that a tool runs',
  async ({ open }) => {
    const home = newHome();
    const gate = join(home.root, 'never');
    const { peer } = await open({
      home,
      args,
      script: [
        { steps: [callDelegate('inner question')], when: 'outer' },
        { steps: [{ text: 'thinking' }, { await: gate }], when: 'inner' },
      ],
    });
    await peer.ok({ type: 'prompt', message: 'outer question' });
    await expect.poll(() => sessionFiles(home).length).toBe(2);

    await peer.ok({ type: 'abort' });

    expect(await peer.next('agent_settled')).toMatchObject({ aborted: true });
  },
  LOCAL_TRANSPORTS,
);

verifies('X92', 'services load inline extensions once, and their events reach them', async ({ open }) => {
  const { peer } = await open({ args, script: [{ text: 'from the services', when: 'inner' }] });

  await peer.ok({ type: 'prompt', message: '/services inner question' });

  const { message } = await nextUiRequest(peer, 'notify');
  expect(JSON.parse(message)).toEqual({ text: 'from the services', loaded: ['loaded', 'started', 'ended'] });
});

verifies(
  'X91',
  'an agent of an extension ends with the session, and with it its commands and its lock',
  async ({ open }) => {
    const home = newHome();
    const pidFile = join(home.root, 'pid');
    const command = `echo $$ > ${pidFile}; exec sleep 1000`;
    const { peer } = await open({
      home,
      args,
      script: [{ steps: [{ toolCall: { name: 'bash', arguments: { command } } }], when: 'inner' }],
    });
    await peer.ok({ type: 'prompt', message: '/linger inner question' });
    const { message } = await nextUiRequest(peer, 'notify');
    const { file } = JSON.parse(message) as { file: string };
    await expect.poll(() => existsSync(pidFile)).toBe(true);
    const manager = SessionManager.open(file);
    expect(() => manager.appendCustomEntry('mine')).toThrow('in use');

    await peer.ok({ type: 'new_session' });

    expect(() => process.kill(Number(readFileSync(pidFile, 'utf8')), 0)).toThrow('ESRCH');
    manager.appendCustomEntry('mine');
    const roles = SessionManager.open(file)
      .getEntries()
      .flatMap((entry) => (entry.type === 'message' ? [entry.message.role] : []));
    expect(roles.slice(0, 2)).toEqual(['user', 'assistant']);
  },
  AGENT_SWITCHES_SESSION,
);

it('[X91] an agent whose creation ends after the session is disposed, and none is created later', async () => {
  const home = newHome();
  const stored = SessionManager.create(home.cwd);
  stored.appendCustomEntry('mine');
  const file = stored.getSessionFile() ?? '';
  userExtension(
    home,
    'creator.ts',
    `import { createAgentSession, SessionManager } from '@earendil-works/pi-coding-agent';
    export default (pi) => {
      pi.registerCommand('create', {
        handler: async (file, ctx) => {
          const authStorage = { getApiKey: () => new Promise((resolve) => { globalThis.creation.release = resolve; }) };
          const create = () => createAgentSession({ model: ctx.model, authStorage, sessionManager: SessionManager.open(file) });
          Object.assign(globalThis.creation, { create, pending: create() });
        },
      });
    };`,
  );
  const creation = {} as { release(): void; create(): Promise<object>; pending: Promise<object> };
  Object.assign(globalThis, { creation });
  const { session } = await createTestSession({}, home);
  await session.prompt(`/create ${file}`);

  await session.dispose();
  creation.release();

  await expect(creation.pending).rejects.toMatchObject({ name: 'Refusal', code: 'not_supported' });
  await expect(creation.create()).rejects.toThrow('The session of the extension has ended');
  expect(() => SessionManager.open(file).appendCustomEntry('mine')).not.toThrow();
});
