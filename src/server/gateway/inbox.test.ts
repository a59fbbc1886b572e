import { expect, it } from 'vitest';
import { BURST, MAX_EXCESS } from './command-rate.ts';
import { Inbox, type Letter } from './inbox.ts';

function newInbox() {
  const letters: Letter[] = [];
  const tooMuch: true[] = [];
  const inbox = new Inbox({ take: (letter) => letters.push(letter), tooMuch: () => tooMuch.push(true) });
  const names = () => letters.map(({ inbound }) => (inbound.kind === 'command' ? inbound.name : inbound.kind));
  return { inbox, letters, tooMuch, names };
}

const lines = (count: number) => Buffer.from('{"type":"get_state"}\n'.repeat(count));

it('nothing is looked at before it is released, and what came is taken in its order', () => {
  const { inbox, names } = newInbox();

  inbox.receive(Buffer.from('{"type":"get_state"}\n{"type":"nothing"}'));
  inbox.receive(Buffer.from('{"type":"abort"}\n'));
  expect([names(), inbox.isHeld, inbox.waiting]).toEqual([[], true, 3]);
  inbox.release();
  inbox.receive(Buffer.from('{"type":"ping"}'));

  expect(names()).toEqual(['get_state', 'refused', 'abort', 'ping']);
  expect([inbox.isHeld, inbox.waiting]).toEqual([false, 0]);
});

it('it can be held again, and takes nothing when it is closed', () => {
  const { inbox, names } = newInbox();

  inbox.release();
  inbox.hold();
  inbox.receive(lines(1));
  expect(names()).toEqual([]);
  inbox.close();
  inbox.release();
  inbox.receive(lines(1));

  expect(names()).toEqual([]);
});

it('more than there is room for is refused, and far more is too much, also while it is held', () => {
  const { inbox, letters, tooMuch } = newInbox();

  inbox.receive(lines(BURST + 10));
  inbox.release();
  expect(letters.filter(({ verdict }) => verdict === 'refuse').length).toBeGreaterThan(0);
  expect(tooMuch).toEqual([]);
  inbox.receive(lines(BURST + MAX_EXCESS));

  expect(tooMuch.length).toBeGreaterThan(0);
});
