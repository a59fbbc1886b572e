import { expect, it } from 'vitest';
import type { InputLine } from '../wire/json-lines.ts';
import { memoryPair } from '../wire/memory.ts';
import { ClientConnection } from './client-connection.ts';

const MEGABYTE = 1024 * 1024;

/** Everything that is scheduled has happened. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A client that asks a hundred times for a megabyte, all at once, and does not read. */
function setUp() {
  const [inside, outside] = memoryPair();
  const connection = new ClientConnection(inside, {});
  const received: string[] = [];
  const responses: string[] = [];
  outside.onLine((line) => responses.push(textOf(line).slice(0, 20)));
  connection.receive((line) => {
    received.push(textOf(line));
    connection.eventQueue.send({ to: textOf(line), text: 'x'.repeat(MEGABYTE) });
  });
  outside.pause();
  outside.write(commands.map((command) => `${command}\n`).join(''));
  return { outside, connection, received, responses };
}

const commands = Array.from({ length: 100 }, (_, index) => `question ${index}`);
const textOf = (line: InputLine) => ('text' in line ? line.text : '');

it('[F18] takes no more commands while a client has too much to read, and all of them in the end', async () => {
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

it('keeps what comes later behind what was held', async () => {
  const { outside, received } = setUp();
  await settled();

  outside.write('later\n');
  outside.resume();
  while (received.length <= commands.length) await settled();

  expect(received).toEqual([...commands, 'later']);
});

it('does what it held when the client leaves, and tells nobody', async () => {
  const { outside, connection, received, responses } = setUp();
  await settled();

  connection.close();
  outside.resume();
  await settled();

  expect(received).toEqual(commands);
  expect(responses.length).toBeLessThan(commands.length);
  expect(connection.eventQueue.backlog).toBe(0);
});

it('tells when everything is answered, also to a client that reads a little and then stops', async () => {
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

  // Enough that there is room again, not enough that what is held is taken.
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
