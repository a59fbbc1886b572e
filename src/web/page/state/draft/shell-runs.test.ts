import { expect, it } from 'vitest';
import { type ConversationView, emptyView } from '../../../../client/view/view.ts';
import { parseShellLine, ShellRuns } from './shell-runs.ts';

const line = { command: 'ls', isPrivate: false };

const viewWith = (timestamps: readonly number[], sessionId = 's'): ConversationView => ({
  ...emptyView,
  state: { sessionId },
  messages: timestamps.map((timestamp) => ({
    role: 'bashExecution',
    command: 'ls',
    timestamp,
  })) as ConversationView['messages'],
});

it.each([
  ['!ls -l', { command: 'ls -l', isPrivate: false }],
  ['!! env ', { command: 'env', isPrivate: true }],
  ['!', { command: '', isPrivate: false }],
  ['ls', undefined],
  [' !ls', undefined],
])('%j is parsed', (text, read) => {
  expect(parseShellLine(text)).toEqual(read);
});

it('a shell command is shown until it ended and is in the conversation', () => {
  const runs = new ShellRuns();
  const id = runs.start(line, viewWith([1]));
  const shown = () => runs.all.value.map(({ exitCode }) => exitCode);

  runs.prune(viewWith([1, 2]));
  const running = shown();
  runs.finish(id, 0);
  runs.prune(viewWith([1]));
  const ended = shown();
  runs.prune(viewWith([1, 2]));

  expect([running, ended, shown()]).toEqual([[undefined], [0], []]);
});

it('a shell command of another session is not shown', () => {
  const runs = new ShellRuns();
  runs.start(line, viewWith([]));

  runs.prune(viewWith([], 'other'));

  expect(runs.all.value).toEqual([]);
});

it('carriage returns overwrite the line, also when they arrive before the text that does', () => {
  const runs = new ShellRuns();
  const id = runs.start(line, viewWith([]));
  const tails = ['first\r\n10%', '\r', '50%\r99', '%\r\r', 'done\nnext', `${'\r'.repeat(100_000)}`].map((piece) => {
    runs.append(id, piece);
    return runs.all.value[0]?.tail.replaceAll('\r', '');
  });

  expect(tails).toEqual([
    'first\n10%',
    'first\n10%',
    'first\n99',
    'first\n99%',
    'first\ndone\nnext',
    'first\ndone\nnext',
  ]);
});

it('only the end of the output is kept', () => {
  const runs = new ShellRuns();
  const id = runs.start(line, viewWith([]));

  for (let at = 0; at < 1000; at++) runs.append(id, `line ${at}\n`);
  runs.append(id, 'x'.repeat(100_000));

  const [{ tail = '' } = {}] = runs.all.value;
  expect(tail.length).toBeLessThan(5000);
  expect(tail.endsWith('x')).toBe(true);
});
