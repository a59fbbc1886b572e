import { expect, it } from 'vitest';
import { withSeen } from './unread.ts';

const see = (seen: Readonly<Record<string, number>>, id: string, messageCount: number) =>
  withSeen(seen, [{ id, messageCount }]);

it('the session seen last is kept, however long ago it was seen first', () => {
  let seen = see({}, 'mine', 1);
  for (let other = 0; other < 499; other++) seen = see(seen, `other${other}`, 1);
  seen = see(seen, 'mine', 50);
  seen = see(seen, 'one more', 2);

  expect(Object.keys(seen)).toHaveLength(500);
  expect([seen['mine'], seen['one more'], seen['other0']]).toEqual([50, 2, undefined]);
});
