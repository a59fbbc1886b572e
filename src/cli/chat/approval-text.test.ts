import { expect, it } from 'vitest';
import type { Approval } from '../../protocol/generated/vocabulary.ts';
import { dialog, inChat } from './testing/scripted-chat.ts';

const options: Approval['options'] = [
  { optionId: 'once', name: 'Allow once', kind: 'allow_once' },
  { optionId: 'session', name: 'Allow for this session', kind: 'allow_session' },
  { optionId: 'always', name: 'Always allow: git push', kind: 'allow_always', rule: 'bash(git push)' },
  { optionId: 'deny', name: 'Deny', kind: 'reject_once' },
  { optionId: 'stop', name: 'Deny and stop', kind: 'reject_stop' },
];

const push: Approval = {
  kind: 'tool',
  toolCallId: 'c1',
  toolName: 'bash',
  source: 'builtin',
  title: 'Run this command?',
  subject: { type: 'command', command: 'git push', cwd: '/home/ann/app' },
  why: { mode: 'ask', rule: 'bash(git push *)' },
  options,
};

const question = (id: string, approval: object = push) =>
  dialog(id, 'select', { title: 'As plain text', options: options.map(({ name }) => name), approval });

it('a command is shown with its folder, the reason and the key of each option', async () => {
  const { emit, printed } = inChat();

  await emit(question('q'));

  expect(printed()).toBe(`Run this command?
  │ git push
In /home/ann/app
Mode ask, rule bash(git push *).
  y  1. Allow once
  a  2. Allow for this session
  w  3. Always allow: git push  (saves the rule bash(git push))
  n  4. Deny
  s  5. Deny and stop
(a letter or a number; n and words deny it with a message to the model; Ctrl-C denies it)
`);
});

it.each<[string, object]>([
  ['y', { value: 'once' }],
  ['Y ', { value: 'once' }],
  ['yes', { value: 'once' }],
  ['a', { value: 'session' }],
  ['w', { value: 'always' }],
  ['n', { value: 'deny' }],
  ['no', { value: 'deny' }],
  ['s', { value: 'stop' }],
  ['3', { value: 'always' }],
  ['Deny and stop', { value: 'stop' }],
  ['session', { value: 'session' }],
  ['n use pnpm instead', { value: 'deny', message: 'use pnpm instead' }],
  ['No,  first run the tests', { value: 'deny', message: 'first run the tests' }],
  ['s wrong branch\nsee above', { value: 'stop', message: 'wrong branch\nsee above' }],
  ['4 not now', { value: 'deny', message: 'not now' }],
])('%j gives the answer %j', async (line, answer) => {
  const { emit, type, answers, dialogs } = inChat();

  await emit(question('q'));
  await type(line);

  expect(answers()).toEqual([answer]);
  expect(dialogs.isOpen).toBe(false);
});

it.each(['', ' ', 'yes please', 'y and then deploy', 'x', '0', '6', 'yn', '__proto__', 'constructor'])(
  '%j answers nothing: the keys are printed again',
  async (line) => {
    const { emit, type, answers, printed, dialogs } = inChat();

    await emit(question('q'));
    await type(line);

    expect(answers()).toEqual([]);
    expect(dialogs.isOpen).toBe(true);
    expect(printed().split('(a letter or a number')).toHaveLength(3);
  },
);

it('Ctrl-C cancels a question, which denies the call', async () => {
  const { emit, dialogs, delivered, answers } = inChat();

  await emit(question('q'));
  dialogs.cancel();
  await delivered();

  expect(answers()).toEqual([{ cancelled: true }]);
});

it('parallel calls are asked about one after another, each answered on its own', async () => {
  const { emit, type, sent, printed } = inChat();
  const at = (id: string, command: string) => question(id, { ...push, subject: { ...push.subject, command } });

  await emit(at('1', 'first'), at('2', 'second'), dialog('3', 'input'));
  expect(printed()).not.toContain('second');
  await type('y', 'n too late', 'a name');

  expect(sent).toEqual([
    { type: 'extension_ui_response', id: '1', value: 'once' },
    { type: 'extension_ui_response', id: '2', value: 'deny', message: 'too late' },
    { type: 'extension_ui_response', id: '3', value: 'a name' },
  ]);
});

it('a question that was answered elsewhere is closed, and typed text does not reach the next one', async () => {
  const { emit, type, sent, printed, clearedInputs } = inChat();
  const over = (id: string) => ({ type: 'extension_ui_resolved', id, by: 'answer' });
  await emit(question('1'), question('2'), question('3'));

  await emit(over('2'));
  expect(clearedInputs()).toBe(0);
  await emit(over('1'));
  await type('y');

  expect(clearedInputs()).toBe(1);
  expect(printed()).toContain('(This question is closed.)\nRun this command?\n');
  expect(sent).toEqual([{ type: 'extension_ui_response', id: '3', value: 'once' }]);
});

it('no control sequence or invisible sign of a question reaches the terminal, and none is hidden', async () => {
  const { emit, printed } = inChat();
  const hostile = 'a\u001B[2Jb\u009B31mc\u202Ed\u200Be\u00A0f\rg\u0000h\u2028i\u{E0041}j\uD800k';

  await emit(
    question('q', {
      ...push,
      title: `${hostile}\n  y  1. Deny`,
      description: hostile,
      subject: { type: 'command', command: hostile, cwd: `/${hostile}\n`, hooks: [hostile] },
      why: { mode: 'ask', rule: hostile },
      options: [{ optionId: 'o', name: hostile, kind: 'allow_always', rule: hostile }],
    }),
  );

  const shown = String.raw`a\u{1b}[2Jb\u{9b}31mc\u{202e}d\u{200b}e\u{a0}f\u{d}g\u{0}h\u{2028}i\u{e0041}j\u{d800}k`;
  expect(printed()).toBe(String.raw`${shown}\n  y  1. Deny
  │ ${shown}
  │ ${shown}
In /${shown}\n
It runs these hooks: ${shown}
Mode ask, rule ${shown}.
  w  1. ${shown}  (saves the rule ${shown})
(a letter or a number; Ctrl-C denies it)
`);
});

it('a command of 8000 characters is shown whole, each row behind the bar', async () => {
  const { emit, printed } = inChat({ width: 40 });
  const command = `echo ${'x'.repeat(7000)}${' '.repeat(900)}; rm -rf "$HOME"\n\tls\n  y  1. Deny`;

  await emit(question('q', { ...push, subject: { ...push.subject, command }, isCut: true }));

  const rows = printed().split('\n');
  const end = rows.indexOf('In /home/ann/app');
  const body = rows.slice(1, end);
  expect(body.every((row) => row.startsWith('  │ ') && row.length <= 40)).toBe(true);
  const shown = command.replace('\n\t', '    ').replace('\n', '');
  expect(body.map((row) => row.slice(4)).join('')).toBe(shown);
  expect(body.slice(-2)).toEqual(['  │     ls', '  │   y  1. Deny']);
  expect(rows[end + 1]).toBe('This was too long to be shown whole.');
});

it.each<[string, Partial<Approval>, string]>([
  [
    'the diff of a file',
    { subject: { type: 'edit', path: '/app/a.ts', diff: '-1 old\n+1 new' }, toolName: 'edit' },
    '  │ -1 old\n  │ +1 new\nIn the file /app/a.ts\nMode',
  ],
  ['a file without a diff', { subject: { type: 'edit', path: '/app/a.ts' } }, '  │ /app/a.ts\nMode'],
  ['a host', { subject: { type: 'host', host: 'example.com', port: 443 } }, '  │ example.com:443\nMode'],
  [
    'the input of a tool, and who brought it',
    { subject: { type: 'tool', input: { path: 'a\u001B' } }, toolName: 'files__read', source: 'mcp' },
    '  │ {\n  │   "path": "a\\u001b"\n  │ }\nTool files__read (mcp).\nMode',
  ],
  [
    'the hooks of a command',
    { subject: { type: 'command', command: 'git commit', cwd: '/app', hooks: ['pre-commit', 'post-commit'] } },
    'In /app\nIt runs these hooks: pre-commit, post-commit\nMode',
  ],
  ['the description', { description: 'It leaves the sandbox.' }, '  │ It leaves the sandbox.\n  │ git push\n'],
])('a question shows %s', async (_label, fields, text) => {
  const { emit, printed } = inChat();

  await emit(question('q', { ...push, ...fields }));

  expect(printed()).toContain(text);
});

it('kinds of a newer agent are shown as data and answered by number', async () => {
  const { emit, type, printed, answers } = inChat();
  const newer = {
    ...push,
    kind: 'teleport',
    subject: { type: 'place', where: 'Mars' },
    why: { mode: 'cautious' },
    options: [...options, { optionId: 'later', name: 'Allow later', kind: 'allow_later' }, { ...options[0] }],
  };

  await emit(question('q', newer), question('r', newer));
  await type('6', '7');

  expect(printed()).toContain('  │   "where": "Mars"\n');
  expect(printed()).toContain('Mode cautious.\n');
  expect(printed()).toContain('     6. Allow later\n     7. Allow once\n');
  expect(answers()).toEqual([{ value: 'later' }, { value: 'once' }]);
});

it.each([undefined, {}, { options: [] }, { options: 'all' }])(
  'a select dialog with the approval %j is a plain one',
  async (approval) => {
    const { emit, type, printed, answers } = inChat();

    await emit(dialog('q', 'select', { options: ['red', 'blue'], approval }));
    await type('y', '2');

    expect(printed()).toBe(
      'Well, q?\n  1. red\n  2. blue\n(a number; an empty line calls it off)\n(a number from 1 to 2)\n',
    );
    expect(answers()).toEqual([{ value: 'blue' }]);
  },
);

it('wide characters fit their rows, also on a terminal that is too narrow', async () => {
  const { emit, printed } = inChat({ width: 5 });

  await emit(question('q', { ...push, subject: { ...push.subject, command: '東京タワーは赤い' } }));

  expect(printed()).toContain('  │ 東京タワ\n  │ ーは赤い\nIn');
});
