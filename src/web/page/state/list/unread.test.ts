import { expect, it } from 'vitest';
import { seenWith } from './unread.ts';

const look = (seen: Readonly<Record<string, number>>, id: string, messageCount: number) =>
  seenWith(seen, [{ id, messageCount }]);

it('whatever was looked at last is kept in mind, however long ago it was seen first', () => {
  let seen = look({}, 'mine', 1);
  for (let other = 0; other < 499; other++) seen = look(seen, `other${other}`, 1);
  seen = look(seen, 'mine', 50);
  seen = look(seen, 'one more', 2);

  expect(Object.keys(seen)).toHaveLength(500);
  expect([seen['mine'], seen['one more'], seen['other0']]).toEqual([50, 2, undefined]);
});
