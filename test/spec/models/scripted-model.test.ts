import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Home, NO_RETRY, newGate, newHome, startAgentProcess } from '../../support/agent/test-agent.ts';
import { outline, type WireRecord } from '../../support/clients/peer.ts';
import { runTau } from '../../support/processes/program.ts';
import { verifies } from '../../support/verifies.ts';

/** The message steps in these records, with the deltas of a block merged. */
const stepsIn = (records: readonly WireRecord[]) =>
  outline(records.filter(({ type }) => type === 'message_update')).map((name) => name.replace('message_update:', ''));

const textOf = (records: readonly WireRecord[]) => {
  const end = records.findLast(
    ({ type, message }) => type === 'message_end' && (message as { role: string }).role === 'assistant',
  );
  const { content } = (end as unknown as { message: { content: { type: string; text?: string }[] } }).message;
  return content.map(({ text }) => text ?? '').join('');
};

verifies('L22', 'without a script the scripted model replies and names itself', async ({ open }) => {
  const { peer } = await open();

  const records = await peer.run('hello there');

  expect(textOf(records)).toMatch(/scripted/i);
  expect(records.at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'ok' });
});

verifies('L23', 'the scripted model lists, reads, runs and writes with real tools', async ({ open }) => {
  const { peer, home } = await open();
  writeFileSync(join(home.cwd, 'notes.txt'), 'buy milk\n');
  const toolsOf = (records: readonly WireRecord[]) => records.filter(({ type }) => type === 'tool_execution_end');

  const listed = toolsOf(await peer.run('list the files'));
  const read = toolsOf(await peer.run('read notes.txt'));
  const ran = toolsOf(await peer.run('run `echo $((6 * 7))`'));
  const written = toolsOf(await peer.run('write plan.txt: first things first'));

  const results = [listed, read, ran, written].map(([end]) => [
    end?.['toolName'],
    end?.['isError'],
    JSON.stringify(end?.['result']),
  ]);
  expect(results).toEqual([
    ['bash', false, expect.stringContaining('notes.txt')],
    ['read', false, expect.stringContaining('buy milk')],
    ['bash', false, expect.stringContaining('42')],
    ['write', false, expect.any(String)],
  ]);
  expect(readFileSync(join(home.cwd, 'plan.txt'), 'utf8')).toContain('first things first');
});

verifies('L24', 'a script is played response by response over several runs of one process', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }, { text: 'two' }] });

  const texts = [textOf(await peer.run('a')), textOf(await peer.run('b')), textOf(await peer.run('c'))];

  expect(texts).toEqual(['one', 'two', 'The script has no more answers.']);
});

verifies('L24', 'a scripted response can match a text and stay, and the script can repeat', async ({ open }) => {
  const { peer } = await open({
    script: [{ text: 'pong', when: '^ping$', keep: true }, { text: 'other' }, { repeat: true }],
  });

  const texts = [];
  for (const message of ['ping', 'x', 'ping', 'y']) texts.push(textOf(await peer.run(message)));

  expect(texts).toEqual(['pong', 'other', 'pong', 'other']);
});

verifies(
  'L24',
  'an invalid script is reported with its line, and nothing is opened',
  async () => {
    const home = newHome();
    const path = join(home.root, 'bad.jsonl');
    writeFileSync(path, '{"text":"fine"}\n\n{"shout":"loud"}\n');

    const { process } = startAgentProcess(home, ['--script', path]);

    expect(await process.exited).toEqual({ code: 2, signal: null });
    expect(process.stderr()).toContain(`${path}:3: `);
    expect(process.stdout()).toBe('');
    expect(existsSync(home.agentDir)).toBe(false);
  },
  ['stdio'],
);

verifies('L25', 'text and thinking of a script are streamed in chunks', async ({ open }) => {
  const { peer } = await open({
    script: [
      {
        steps: [
          { thinking: 'abcdef', chunks: 3 },
          { text: 'x', times: 4 },
          { delayMs: 1 },
          { text: 'end', delayMs: 1 },
        ],
      },
    ],
  });
  await peer.ok({ type: 'hello', stream: 'delta' });

  const records = await peer.run('go');

  expect(stepsIn(records)).toEqual([
    'start',
    'thinking_start',
    'thinking_delta',
    'thinking_end',
    'text_start',
    'text_delta',
    'text_end',
    'done',
  ]);
  const end = records.find(
    ({ type, message }) => type === 'message_end' && (message as { role: string }).role === 'assistant',
  );
  expect(end).toMatchObject({
    message: {
      content: [
        { type: 'thinking', thinking: 'abcdef' },
        { type: 'text', text: 'xxxxend' },
      ],
      stopReason: 'stop',
    },
  });
});

verifies('L25', 'tool calls, usage and stop reason come from the script', async ({ open }) => {
  const call = { id: 'call_7', name: 'bash', arguments: { command: 'echo ok' } };
  const { peer } = await open({
    script: [
      { steps: [{ toolCall: call, chunks: 2 }, { usage: { input: 11, output: 7 } }] },
      { steps: [{ text: 'cut short' }, { stop: 'length' }] },
    ],
  });

  const records = await peer.run('go');

  const answers = records.flatMap(({ type, message }) => (type === 'turn_end' ? [message] : []));
  expect(answers).toMatchObject([
    {
      content: [{ type: 'toolCall', ...call }],
      stopReason: 'toolUse',
      usage: { input: 11, output: 7, totalTokens: 18 },
    },
    { content: [{ type: 'text', text: 'cut short' }], stopReason: 'length' },
  ]);
  expect(records.find(({ type }) => type === 'tool_execution_end')).toMatchObject({
    toolCallId: 'call_7',
    isError: false,
  });
});

const failures = {
  'an HTTP status': [{ error: { status: 400, message: 'bad thing' } }, 'model_error', '400 bad thing'],
  'an overloaded provider': [{ error: { status: 529, message: 'Overloaded' } }, 'overloaded', '529 Overloaded'],
  'an invalid key': [{ error: { status: 401, message: 'who?' } }, 'auth_failed', '401 who?'],
  'a context overflow': [{ overflow: true }, 'context_overflow', expect.any(String)],
  'an interrupted stream': [{ cut: true }, 'connection_lost', expect.any(String)],
} as const;

for (const [what, [step, errorCode, errorMessage]] of Object.entries(failures)) {
  verifies('L25', `a script can play ${what}`, async ({ open }) => {
    const { peer } = await open({ settings: NO_RETRY, script: [{ steps: [{ text: 'well, ' }, step] }] });

    const records = await peer.run('go');

    expect(records.at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'error', errorCode, errorMessage });
    const { messages } = await peer.ok({ type: 'get_messages' });
    expect(messages[1]).toMatchObject({ content: [{ type: 'text', text: 'well, ' }], stopReason: 'error', errorCode });
  });
}

verifies('L25', 'a scripted stall lasts until an abort, a scripted wait until its file exists', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    script: [
      { steps: [{ text: 'a ' }, { stall: true }, { text: 'never' }] },
      { steps: [{ await: gate.path }, { text: 'now' }] },
    ],
  });
  await peer.ok({ type: 'prompt', message: 'one' });
  await peer.next((record) => record.type === 'message_update' && JSON.stringify(record).includes('"a '));
  await peer.ok({ type: 'abort' });
  const { messages } = await peer.ok({ type: 'get_messages' });

  await peer.ok({ type: 'prompt', message: 'two' });
  gate.open();
  await peer.ok({ type: 'wait_idle' });

  expect(messages[1]).toMatchObject({ content: [{ type: 'text', text: 'a ' }], stopReason: 'aborted' });
  expect(await peer.ok({ type: 'get_last_assistant_text' })).toEqual({ text: 'now' });
});

/** Preloaded into the process: records each attempt to reach a host. */
const tracer = `
const { appendFileSync } = require('node:fs');
const { Socket } = require('node:net');
const dns = require('node:dns');
const connect = Socket.prototype.connect;
const note = (what) => appendFileSync(process.env.NETWORK_TRACE, JSON.stringify(what) + '\\n');
Socket.prototype.connect = function (...args) {
  const [options] = Array.isArray(args[0]) ? args[0] : args;
  if (!(options && options.path)) note(options);
  return connect.apply(this, args);
};
for (const name of ['lookup', 'resolve', 'resolve4', 'resolve6']) {
  const original = dns[name];
  dns[name] = (...args) => { note(args[0]); return original(...args); };
}
note('watching');
`;

/** Environment of a process that records each attempt to reach a host, and what it has recorded. */
function traceNetwork(home: Home) {
  const [preload, trace] = [join(home.root, 'trace.cjs'), join(home.root, 'trace.txt')];
  writeFileSync(preload, tracer);
  const notes = () => [...new Set(readFileSync(trace, 'utf8').trim().split('\n'))];
  return { notes, env: { NODE_OPTIONS: `--require ${preload}`, NETWORK_TRACE: trace } };
}

const LOCAL_SERVERS = [11_434, 8080, 9931, 1234].map((port) => ({ host: '127.0.0.1', port }));

verifies(
  'L22 L26',
  'the agent connects only to local servers, when models are listed, and with --offline to none',
  async ({ open }) => {
    for (const args of [['--offline'], []]) {
      const home = newHome();
      const { env, notes } = traceNetwork(home);
      const { peer } = await open({ home, args, env });

      await peer.run('hello');
      await peer.run('list the files');
      await peer.refused({ type: 'set_model', provider: 'own', modelId: 'm' });
      const before = notes();
      await peer.ok({ type: 'get_available_models' });
      const [, ...looked] = notes();

      expect(before).toEqual(['"watching"']);
      expect(looked.map((note) => JSON.parse(note))).toMatchObject(args.includes('--offline') ? [] : LOCAL_SERVERS);
    }
  },
  ['stdio', 'unix'],
);

it('[L31] --list-models looks for servers on this machine, and with --offline for none', async () => {
  const found = [];
  for (const args of [['--list-models'], ['--list-models', '--offline']]) {
    const home = newHome();
    const { env, notes } = traceNetwork(home);
    const { code } = await runTau(home, args, { input: '', env });
    found.push([
      code,
      notes()
        .slice(1)
        .map((note) => JSON.parse(note)),
    ]);
  }

  expect(found).toMatchObject([
    [0, LOCAL_SERVERS],
    [0, []],
  ]);
});
