import { expect, it } from 'vitest';
import { OwnMessages } from './own-messages.ts';

it('each message matches once', () => {
  const own = new OwnMessages();
  for (const text of ['a', 'a', 'b', 'c']) own.add(text);
  own.drop('c');

  expect(['a', 'c', 'a', 'a', 'b', 'b'].map((text) => own.take(text))).toEqual([true, false, true, false, true, false]);
});

it('a slash command matches the message that it expanded to', () => {
  const own = new OwnMessages();
  own.add('/review this');

  expect([own.take('Please look at this.'), own.take('Another thing.')]).toEqual([true, false]);
});
