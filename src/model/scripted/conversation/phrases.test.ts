import { expect, test } from 'vitest';
import { bash, read, respond, userMessage, write } from '../testing/messages.ts';

const text = (content: string) => ({ text: content });
const tool = (name: string) => ({ name, description: '', parameters: {} });

test.each([
  ['list the files', [bash('ls -la')]],
  ['List files.', [bash('ls -la')]],
  ['Please list all the files here!', [bash('ls -la')]],
  ['list the files in src', [bash('ls -la src')]],
  ['Could you list the files in `src/model`, please?', [bash('ls -la src/model')]],
  ['show me the files in the src folder', [bash('ls -la src')]],
  ['list the files in "my docs"', [bash("ls -la 'my docs'")]],
  ['list the files in .', [bash('ls -la .')]],
  ['read package.json', [read('package.json')]],
  ['Read the file `a b.txt`.', [read('a b.txt')]],
  ['show me src/index.ts, please', [read('src/index.ts')]],
  ['show me the contents of ../README.md', [read('../README.md')]],
  ['read a.txt, b.txt and "c d.txt"', [read('a.txt'), read('b.txt'), read('c d.txt')]],
  ['run `git status`', [bash('git status')]],
  ['run git status', [bash('git status')]],
  ['Run the command "npm test".', [bash('npm test')]],
  ['run: git add .', [bash('git add .')]],
  ['run echo a && echo b and c', [bash('echo a && echo b and c')]],
  ['run `echo one and run two` now', [bash('echo one and run two')]],
  ['run ```sh\necho one\necho two\n```', [bash('echo one\necho two')]],
  ['write notes.txt: buy milk', [write('notes.txt', 'buy milk')]],
  ['Write `my notes.txt`: "buy milk and bread."', [write('my notes.txt', 'buy milk and bread.')]],
  ['write a.md: # Title\n\nFirst this, then that.\n', [write('a.md', '# Title\n\nFirst this, then that.')]],
  ['create the file a.ts:\n```ts\n  const a = 1;\n```', [write('a.ts', '  const a = 1;')]],
  ['write empty.txt:', [write('empty.txt', '')]],
  [
    'think about the sea',
    [{ thinking: 'This is about the sea.' }, text('I thought about the sea, as far as a script can.')],
  ],
  ['fail', [{ error: { status: 500 } }]],
  ['Fail with 529!', [{ error: { status: 529 } }]],
  ['fail with a status code 429', [{ error: { status: 429 } }]],
  ['stall', [text('From here on nothing comes.'), { stall: true }]],
  ['overflow', [{ overflow: true }]],
  ['cut the stream', [text('This sentence is cut'), { cut: true }]],
  ['count to 5', [text('1 2 3 4 5')]],
  ['count to 0', [text('I can count to any number from 1 to 100000.')]],
  ['count to 100,001', [text('I can count to any number from 1 to 100000.')]],
  ['say hello!', [text('hello!')]],
  ['say: “salt and pepper”', [text('salt and pepper')]],
  ['"say hello"', [text('hello')]],
  ['what is in this image?', [text('There is no image in your message.')]],
])('%j', (message, steps) => {
  expect(respond([userMessage(message)])).toEqual(steps);
});

test('counting stops at a hundred thousand', () => {
  const [step] = respond([userMessage('count to 100000')]);

  expect(step && 'text' in step && step.text.split(' ')).toHaveLength(100_000);
});

test.each([
  ['list the files in src', [tool('ls')], [{ toolCall: { name: 'ls', arguments: { path: 'src' } } }]],
  ['list the files', [tool('ls')], [{ toolCall: { name: 'ls', arguments: {} } }]],
  ['list the files', [tool('read')], [text('That needs the tool bash, which is not offered to me.')]],
  ['read a.txt', [tool('bash')], [text('That needs the tool read, which is not offered to me.')]],
  ['write a.txt: b', [], [text('That needs the tool write, which is not offered to me.')]],
])('%j with the tools %j', (message, offered, steps) => {
  expect(respond([userMessage(message)], { tools: offered })).toEqual(steps);
});
