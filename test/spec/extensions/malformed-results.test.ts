import { join } from 'node:path';
import { expect } from 'vitest';
import { FILLER, fastRetryHome, textWithUsage } from '../../support/agent/compaction.ts';
import { bash, nextUiRequest, userExtension, waitForFileCode } from '../../support/agent/extensions.ts';
import { newGate, newHome, readSessionFile } from '../../support/agent/test-agent.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { verifies } from '../../support/verifies.ts';

const errors = (records: readonly WireRecord[]) => records.filter(({ type }) => type === 'extension_error');

/** Malformed return values of handlers. */
const malformedResults: [string, string][] = [
  ['message_end', "({ message: { role: 'assistant' } })"],
  ['message_end', "({ message: { role: 'assistant', content: 'words' } })"],
  ['message_end', "({ message: { role: 'assistant', content: [null] } })"],
  ['message_end', "({ message: { role: 'user', content: [] } })"],
  ['tool_result', '(() => { const ring = {}; ring.ring = ring; return { details: ring }; })()'],
  ['tool_result', '({ content: [null] })'],
  ['tool_result', "({ content: [{ type: 'zzz' }] })"],
  ['tool_result', '({ details: 10n })'],
  ['context', '({ messages: [null] })'],
  ['context', "({ messages: [{ role: 'nobody' }] })"],
  ['context', "({ get messages() { throw new Error('a getter'); } })"],
  ['context', "({ messages: [{ role: 'assistant', content: 5 }] })"],
  ['turn_end', '({ entries: 7 })'],
  ['turn_end', "({ entries: [{ type: 'message', message: 'x' }] })"],
  ['before_agent_start', '({ message: { customType: 5, content: { a: 1 } } })'],
  ['before_agent_start', '({ systemPrompt: 7 })'],
  ['input', "({ action: 'transform', text: 5 })"],
  ['input', "({ action: 'transform', text: 'x', images: 'no' })"],
  ['agent_before_settle', '({ entries: [7] })'],
];
for (const [event, returnValue] of malformedResults) {
  verifies('X50', `a ${event} handler that returns ${returnValue} is reported and has no effect`, async ({ open }) => {
    const home = newHome();
    const path = userExtension(home, 'odd.ts', `export default (pi) => pi.on('${event}', () => ${returnValue});`);
    const { peer, sessionFiles } = await open({ home, script: [bash('echo fine'), { text: 'done' }] });

    const records = await peer.run('go');

    expect(records.at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'ok' });
    expect(errors(peer.records)[0]).toMatchObject({ extensionPath: path, event });
    const { messages } = await peer.ok({ type: 'get_messages' });
    expect(messages.map(({ role }: { role: string }) => role)).toEqual([
      'user',
      'assistant',
      'toolResult',
      'assistant',
    ]);
    expect(messages[0].content).toEqual([{ type: 'text', text: 'go' }]);
    expect(messages[2].content).toEqual([{ type: 'text', text: 'fine\n' }]);
    const storedMessages = readSessionFile(sessionFiles()[0] ?? '').filter(
      ({ type }) => type === 'message' || type === 'custom_message',
    );
    expect(storedMessages).toHaveLength(4);
  });
}

for (const compaction of ['{ summary: 5 }', "{ summary: 'short', firstKeptEntryId: 'nowhere' }"]) {
  verifies(
    'X50',
    `a session_before_compact result ${compaction} is reported, and the model writes the summary`,
    async ({ open }) => {
      const home = fastRetryHome();
      userExtension(
        home,
        'odd.ts',
        `export default (pi) => pi.on('session_before_compact', () => ({ compaction: ${compaction} }));`,
      );
      const { peer } = await open({
        home,
        script: [textWithUsage('one', 100), textWithUsage('two', 200), { text: 'a summary' }],
      });
      await peer.run(`first ${FILLER}`);
      await peer.run(`second ${FILLER}`);

      expect(await peer.ok({ type: 'compact' })).toMatchObject({ summary: 'a summary' });
      expect(errors(peer.records)).toMatchObject([{ event: 'session_before_compact' }]);
    },
  );
}

verifies('X50', 'malformed messages and UI calls of an extension are corrected or rejected', async ({ open }) => {
  const home = newHome();
  userExtension(
    home,
    'odd.ts',
    `export default (pi) => {
      pi.registerCommand('odd', { description: 7, handler: async (_args, ctx) => {
        pi.sendMessage({ customType: 'a', content: 5 });
        pi.sendMessage('words');
        ctx.ui.notify(5, 'success');
        ctx.ui.setStatus(undefined, 5);
        ctx.ui.setWidget('w', [1, null], { placement: 'nowhere' });
      } });
    }`,
  );
  const { peer } = await open({ home });

  const { commands } = await peer.ok({ type: 'get_commands' });
  await peer.ok({ type: 'prompt', message: '/odd' });
  await nextUiRequest(peer, 'setWidget');

  expect(commands).toMatchObject([{ name: 'odd', description: '7' }]);
  expect(errors(peer.records).map(({ event }) => event)).toEqual(['send_message', 'send_message']);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ messageCount: 0 });
});

verifies(
  'X51',
  'an uncaught error of an extension is reported, and the agent keeps running',
  async ({ open }) => {
    const home = newHome();
    const path = userExtension(
      home,
      'stray.ts',
      `export default (pi) => {
        pi.registerCommand('reject', { handler: async () => { void Promise.reject(new Error('stray')); } });
        pi.registerCommand('later', { handler: async () => { setTimeout(() => { throw new Error('from a timer'); }); } });
        pi.registerCommand('nothing', { handler: async () => { throw Object.create(null); } });
        pi.registerCommand('compact', { handler: async (_args, ctx) => ctx.compact({ onError: () => { throw new Error('in a callback'); } }) });
      }`,
    );
    const { peer } = await open({ home });

    for (const name of ['reject', 'later', 'nothing', 'compact']) {
      await peer.ok({ type: 'prompt', message: `/${name}` });
      await peer.next('extension_error');
    }

    expect(errors(peer.records)).toMatchObject([
      { extensionPath: path, event: 'uncaught', error: 'stray' },
      { extensionPath: path, event: 'uncaught', error: 'from a timer' },
      { extensionPath: 'command:nothing', event: 'command', error: 'Something without words was thrown' },
      { extensionPath: '<runtime>', event: 'compact', error: 'in a callback' },
    ]);
    await peer.run('say hello');
  },
  ['stdio', 'unix'],
);

verifies('X52', 'a handler that changes its event changes nothing outside the handler', async ({ open }) => {
  const home = newHome();
  userExtension(
    home,
    'vandal.ts',
    `export default (pi) => {
      for (const event of ['agent_start', 'message_start', 'message_end', 'turn_end', 'agent_end', 'tool_execution_end', 'tool_result'])
        pi.on(event, (record) => {
          record.type = 'garbage';
          for (const key of Object.keys(record)) if (typeof record[key] === 'object') { Object.assign(record[key] ?? {}, { content: 'garbage', role: 'garbage' }); }
        });
    }`,
  );
  const { peer } = await open({ home, script: [bash('echo fine'), { text: 'done' }] });

  await peer.run('go');

  expect(JSON.stringify(peer.records)).not.toContain('garbage');
  expect(JSON.stringify(await peer.ok({ type: 'get_messages' }))).not.toContain('garbage');
});

verifies('X53', 'a tool_call gate stays in force while extensions reload', async ({ open }) => {
  const home = newHome();
  const gate = newGate();
  const before = JSON.stringify(join(home.root, 'before'));
  userExtension(
    home,
    'a-gate.ts',
    "export default (pi) => pi.on('tool_call', () => ({ block: true, reason: 'shut' }));",
  );
  userExtension(
    home,
    'b-slow.ts',
    `import { existsSync, writeFileSync } from 'node:fs';
    export default async (pi) => {
      pi.registerCommand('again', { handler: async (_args, ctx) => { await ctx.reload(); ctx.ui.notify('loaded'); } });
      if (existsSync(${before})) { ${waitForFileCode(JSON.stringify(gate.path))} }
      writeFileSync(${before}, '');
    }`,
  );
  const { peer } = await open({ home, script: [bash('echo through'), bash('echo through'), { text: 'done' }] });
  await peer.ok({ type: 'get_commands' });

  await peer.ok({ type: 'prompt', message: '/again' });
  peer.send({ type: 'prompt', message: 'go' });
  const early = peer.records.filter(({ method }) => method === 'notify');
  gate.open();
  await peer.find('agent_settled');

  expect(early).toEqual([]);
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages.filter(({ role }: { role: string }) => role === 'toolResult')).toMatchObject([
    { isError: true, content: [{ text: 'shut' }] },
    { isError: true, content: [{ text: 'shut' }] },
  ]);
});

verifies(
  'X51',
  'errors thrown while extensions load, and unhandled rejections of tau calls, are reported',
  async ({ open }) => {
    const home = newHome();
    const early = userExtension(
      home,
      'a-early.ts',
      "export default () => { void Promise.reject(new Error('early')); };",
    );
    const gate = newGate();
    userExtension(home, 'b-slow.ts', `export default async () => { ${waitForFileCode(JSON.stringify(gate.path))} };`);
    userExtension(
      home,
      'c-careless.ts',
      "export default (pi) => pi.registerCommand('go', { handler: async (_args, ctx) => { void ctx.switchSession('/nowhere.jsonl'); } });",
    );
    const { peer } = await open({ home });
    await peer.find('extension_error');
    gate.open();

    await peer.ok({ type: 'prompt', message: '/go' });
    await peer.find(({ type, error }) => type === 'extension_error' && String(error).startsWith('Session not found'));

    expect(errors(peer.records)[0]).toMatchObject({ extensionPath: early, event: 'uncaught', error: 'early' });
    await peer.run('say hello');
  },
  ['stdio', 'unix'],
);

verifies('X48', 'a tool_call handler gets the prepared arguments, and any truthy `block` blocks', async ({ open }) => {
  const home = newHome();
  userExtension(
    home,
    'gate.ts',
    `export default (pi) => {
      pi.registerTool({
        name: 'shout', description: 'Shouts', parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
        prepareArguments: (args) => ({ text: args.text ?? args.words }),
        execute: async (_id, { text }) => ({ content: [{ type: 'text', text: text.toUpperCase() }] }),
      });
      pi.on('tool_call', ({ input }) => ({ block: input.text?.match(/secret/), reason: 'not that' }));
    }`,
  );
  const shout = (args: object) => ({ steps: [{ toolCall: { name: 'shout', arguments: args } }] });
  const { peer } = await open({
    home,
    script: [shout({ words: 'a secret' }), shout({ words: 'hello' }), { text: 'done' }],
  });

  await peer.run('go');

  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages.filter(({ role }: { role: string }) => role === 'toolResult')).toMatchObject([
    { isError: true, content: [{ text: 'not that' }] },
    { isError: false, content: [{ text: 'HELLO' }] },
  ]);
  expect(messages[1].content[0]).toMatchObject({ arguments: { words: 'a secret' } });
});

verifies(
  'X53',
  'a reload clears the status of its extensions; an unknown `deliverAs` is rejected',
  async ({ open }) => {
    const home = newHome();
    userExtension(
      home,
      'status.ts',
      `export default (pi) => {
      pi.registerCommand('show', { handler: async (_args, ctx) => { ctx.ui.setStatus('me', 'here'); await ctx.reload(); } });
      pi.registerCommand('send', { handler: async () => pi.sendUserMessage('x', { deliverAs: 'nextTurn' }) });
    }`,
    );
    const { peer } = await open({ home });

    await peer.ok({ type: 'prompt', message: '/show' });
    await peer.ok({ type: 'prompt', message: '/send' });
    await peer.find('extension_error');

    const statuses = peer.records.filter(({ method }) => method === 'setStatus').map(({ statusText }) => statusText);
    expect(statuses).toEqual(['here', undefined]);
    expect(errors(peer.records)).toMatchObject([
      { extensionPath: 'command:send', error: 'deliverAs must be one of steer, followUp, not nextTurn' },
    ]);
  },
);
