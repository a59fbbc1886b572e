import { expect, it } from 'vitest';
import { type InputLine, toLine } from '../wire/json-lines.ts';
import { memoryPair } from '../wire/memory.ts';
import { ClientConnection } from './client-connection.ts';

const MEGABYTE = 1024 * 1024;

/** Settles after all scheduled callbacks. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A client that sends a hundred commands for a megabyte each and does not read. */
function setUp() {
  const [inside, outside] = memoryPair();
  const connection = new ClientConnection(inside, {});
  const received: string[] = [];
  const responses: string[] = [];
  outside.onLine((line) => responses.push(textOf(line).slice(0, 20)));
  connection.receive((line) => {
    received.push(textOf(line));
    connection.eventQueue.send(toLine({ to: textOf(line), text: 'x'.repeat(MEGABYTE) }));
  });
  outside.pause();
  outside.write(commands.map((command) => `${command}\n`).join(''));
  return { outside, connection, received, responses };
}

const commands = Array.from({ length: 100 }, (_, index) => `question ${index}`);
const textOf = (line: InputLine) => ('text' in line ? line.text : '');

it('[F18] a client with too much unread output is paused, and all its commands run in the end', async () => {
  const { outside, received, responses } = setUp();

  await settled();
  const early = received.length;
  outside.resume();
  while (responses.length < commands.length) await settled();

  expect(early).toBeGreaterThan(10);
  expect(early).toBeLessThan(20);
  expect(received).toEqual(commands);
  expect(responses).toEqual(commands.map((command) => `{"to":"${command}","text"`.slice(0, 20)));
});

it('lines that arrive later run after the held ones', async () => {
  const { outside, received } = setUp();
  await settled();

  outside.write('later\n');
  outside.resume();
  while (received.length <= commands.length) await settled();

  expect(received).toEqual([...commands, 'later']);
});

it('lines held when the client closes still run, and their responses are dropped', async () => {
  const { outside, connection, received, responses } = setUp();
  await settled();

  connection.close();
  outside.resume();
  await settled();

  expect(received).toEqual(commands);
  expect(responses.length).toBeLessThan(commands.length);
  expect(connection.eventQueue.backlog).toBe(0);
});

it('allResponded settles for a client that reads a little and then stops', async () => {
  const { outside, connection } = setUp();
  let isDone = false;
  let finish = () => {};
  connection.track(
    new Promise((resolve) => {
      finish = resolve;
    }),
  );
  void connection.response().then(() => {
    isDone = true;
  });

  // Reads enough to free space, but not enough to release the held lines.
  outside.onLine(() => {
    if (connection.eventQueue.backlog < MEGABYTE) outside.pause();
  });
  outside.resume();
  while (connection.eventQueue.backlog >= MEGABYTE) await settled();
  finish();
  await settled();
  outside.onLine(() => {});
  while (!isDone) {
    outside.resume();
    await settled();
  }

  expect(connection.eventQueue.backlog).toBeLessThan(MEGABYTE);
});

it('[W101] commands that do not read, and frames, overtake held reads', async () => {
  const { outside, received } = setUp();
  await settled();
  const overtaking = [
    '{"type":"abort"}',
    '{"type":"prompt","message":"Hi"}',
    '{"type":"abort_bash"}',
    '{"type":"extension_ui_response","id":"1","cancelled":true}',
    '{"type":"host_tool_result","id":"2","result":{"content":[]}}',
  ];

  const early = received.length;
  outside.write(['{"type":"get_state"}', ...overtaking, '{"type":"get_messages"}'].map((line) => `${line}\n`).join(''));
  await settled();

  expect(received.slice(early)).toEqual(overtaking);
});
