import { expect, it } from 'vitest';
import type { InputLine } from '../wire/json-lines.ts';
import { memoryPair } from '../wire/memory.ts';
import { Connection } from './connection.ts';

const MEGABYTE = 1024 * 1024;

/** Everything that is scheduled has happened. */
const quiet = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A client that asks a hundred times for a megabyte, all at once, and does not read. */
function setUp() {
  const [inside, outside] = memoryPair();
  const connection = new Connection(inside, {});
  const asked: string[] = [];
  const answered: string[] = [];
  outside.onLine((line) => answered.push(textOf(line).slice(0, 20)));
  connection.receive((line) => {
    asked.push(textOf(line));
    connection.eventQueue.send({ to: textOf(line), text: 'x'.repeat(MEGABYTE) });
  });
  outside.pause();
  outside.write(questions.map((question) => `${question}\n`).join(''));
  return { outside, connection, asked, answered };
}

const questions = Array.from({ length: 100 }, (_, index) => `question ${index}`);
const textOf = (line: InputLine) => ('text' in line ? line.text : '');

it('[F18] takes no more commands while a client has too much to read, and all of them in the end', async () => {
  const { outside, asked, answered } = setUp();

  await quiet();
  const early = asked.length;
  outside.resume();
  while (answered.length < questions.length) await quiet();

  expect(early).toBeGreaterThan(10);
  expect(early).toBeLessThan(20);
  expect(asked).toEqual(questions);
  expect(answered).toEqual(questions.map((question) => `{"to":"${question}","text"`.slice(0, 20)));
});

it('keeps what comes later behind what was held', async () => {
  const { outside, asked } = setUp();
  await quiet();

  outside.write('later\n');
  outside.resume();
  while (asked.length <= questions.length) await quiet();

  expect(asked).toEqual([...questions, 'later']);
});

it('does what it held when the client leaves, and tells nobody', async () => {
  const { outside, connection, asked, answered } = setUp();
  await quiet();

  connection.close();
  outside.resume();
  await quiet();

  expect(asked).toEqual(questions);
  expect(answered.length).toBeLessThan(questions.length);
  expect(connection.eventQueue.backlog).toBe(0);
});

it('tells when everything is answered, also to a client that reads a little and then stops', async () => {
  const { outside, connection } = setUp();
  let isAnswered = false;
  let finish = () => {};
  connection.track(
    new Promise((resolve) => {
      finish = resolve;
    }),
  );
  void connection.answered().then(() => {
    isAnswered = true;
  });

  // Enough that there is room again, not enough that what is held is taken.
  outside.onLine(() => {
    if (connection.eventQueue.backlog < MEGABYTE) outside.pause();
  });
  outside.resume();
  while (connection.eventQueue.backlog >= MEGABYTE) await quiet();
  finish();
  await quiet();
  outside.onLine(() => {});
  while (!isAnswered) {
    outside.resume();
    await quiet();
  }

  expect(connection.eventQueue.backlog).toBeLessThan(MEGABYTE);
});
