import { expect } from 'vitest';
import { newHome, openTestAgent, readSessionFile } from '../../support/agent/test-agent.ts';
import type { RecordMatch } from '../../support/clients/peer.ts';
import { verifies } from '../../support/verifies.ts';

const isStep =
  (kind: string): RecordMatch =>
  (record) =>
    record.type === 'message_update' && (record['assistantMessageEvent'] as { type: string }).type === kind;
const isMessage =
  (type: string, role: string): RecordMatch =>
  (record) =>
    record.type === type && (record['message'] as { role: string }).role === role;

/** Every point of a run at which the process is killed. */
const moments: readonly (readonly [string, RecordMatch])[] = [
  ['the response to the prompt', ({ type, command }) => type === 'response' && command === 'prompt'],
  ['agent_start', 'agent_start'],
  ['the user message', isMessage('message_end', 'user')],
  ['the first text delta', isStep('text_delta')],
  ['the tool call', isStep('toolcall_end')],
  ['the end of the assistant message', isMessage('message_end', 'assistant')],
  ['the start of the tool', 'tool_execution_start'],
  ['the end of the tool', 'tool_execution_end'],
  ['the tool result', isMessage('message_end', 'toolResult')],
  ['the end of the turn', 'turn_end'],
  ['agent_end', 'agent_end'],
  ['agent_settled', 'agent_settled'],
];

for (const [name, moment] of moments) {
  verifies(
    'J18 J17',
    `a session killed at ${name} reopens, has the message once and continues`,
    async () => {
      const home = newHome();
      const call = { toolCall: { id: 'call_1', name: 'bash', arguments: { command: 'echo hi' } } };
      const first = await openTestAgent('stdio', {
        home,
        script: [{ steps: [{ text: 'Look: ' }, call] }, { text: 'done' }],
      });
      const { sessionFile } = await first.peer.ok({ type: 'get_state' });
      first.peer.send({ type: 'prompt', id: 'p', message: 'first', clientMessageId: 'c1' });

      await first.peer.find(moment);
      first.process?.kill('SIGKILL');
      await first.process?.exited;
      const received = first.peer.records.flatMap(({ type, message }) => (type === 'message_end' ? [message] : []));

      const second = await openTestAgent('stdio', {
        home,
        args: ['--session', sessionFile],
        script: [{ text: 'more' }],
      });
      const { messages } = await second.peer.ok({ type: 'get_messages' });
      expect(messages.slice(0, received.length)).toEqual(received);
      expect(messages.filter(({ role }: { role: string }) => role === 'user')).toHaveLength(1);
      const calls = JSON.stringify(messages).split('"type":"toolCall"').length - 1;
      expect(messages.filter(({ role }: { role: string }) => role === 'toolResult')).toHaveLength(calls);
      const again = await second.peer.run('second');
      expect(again.at(-1)).toMatchObject({ outcome: 'ok' });
      const texts = readSessionFile(sessionFile).flatMap(({ message }) =>
        message?.role === 'user' ? [message.content[0].text] : [],
      );
      expect(texts).toEqual(['first', 'second']);
    },
    ['stdio'],
  );
}

verifies(
  'J18',
  'an acknowledged message that is sent again after a crash is neither lost nor duplicated',
  async () => {
    const home = newHome();
    const first = await openTestAgent('stdio', { home, script: [{ stall: true }] });
    const { sessionFile } = await first.peer.ok({ type: 'get_state' });
    await first.peer.ok({ type: 'prompt', message: 'first', clientMessageId: 'c1' });
    first.process?.kill('SIGKILL');
    await first.process?.exited;

    const second = await openTestAgent('stdio', { home, args: ['--session', sessionFile], script: [{ text: 'one' }] });
    const accepted = await second.peer.ok({ type: 'prompt', message: 'first', clientMessageId: 'c1' });
    await second.peer.next('agent_settled');

    expect(accepted).toMatchObject({ disposition: 'started', duplicate: true });
    const texts = readSessionFile(sessionFile).flatMap(({ message }) => (message ? [message.content[0].text] : []));
    expect(texts).toEqual(['first', 'one']);
  },
  ['stdio'],
);

verifies(
  'J18',
  'a queued message is queued again after a crash',
  async () => {
    const home = newHome();
    const first = await openTestAgent('stdio', { home, script: [{ steps: [{ text: 'a ' }, { stall: true }] }] });
    const { sessionFile } = await first.peer.ok({ type: 'get_state' });
    await first.peer.ok({ type: 'prompt', message: 'first' });
    await first.peer.next('message_update');
    const { queueId } = await first.peer.ok({ type: 'follow_up', message: 'then' });
    first.process?.kill('SIGKILL');
    await first.process?.exited;

    const second = await openTestAgent('stdio', {
      home,
      args: ['--session', sessionFile],
      script: [{ text: 'one' }, { text: 'two' }],
    });

    expect(await second.peer.find('queue_update')).toEqual({
      type: 'queue_update',
      steering: [],
      followUp: ['then'],
      items: [{ id: queueId, kind: 'followUp', text: 'then' }],
    });
    expect(await second.peer.ok({ type: 'get_state' })).toMatchObject({ pendingMessageCount: 1, isIdle: true });
    await second.peer.run('second');
    const { messages } = await second.peer.ok({ type: 'get_messages' });
    const texts = messages.flatMap(({ role, content }: { role: string; content: { text: string }[] }) =>
      role === 'user' ? [content[0]?.text] : [],
    );
    expect(texts).toEqual(['first', 'second', 'then']);
  },
  ['stdio'],
);
