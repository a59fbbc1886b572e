import { expect, it } from 'vitest';
import { BURST_LINES, MAX_EXCESS_LINES } from './command-limits.ts';
import { type InboundLine, Inbox } from './inbox.ts';

function newInbox() {
  const received: InboundLine[] = [];
  const floods: true[] = [];
  const inbox = new Inbox({ onLine: (line) => received.push(line), onFlood: () => floods.push(true) });
  const names = () => received.map(({ inbound }) => (inbound.kind === 'command' ? inbound.name : inbound.kind));
  return { inbox, letters: received, tooMuch: floods, names };
}

const lines = (count: number) => Buffer.from('{"type":"get_state"}\n'.repeat(count));

it('held lines are delivered in order on release', () => {
  const { inbox, names } = newInbox();

  inbox.receive(Buffer.from('{"type":"get_state"}\n{"type":"nothing"}'));
  inbox.receive(Buffer.from('{"type":"abort"}\n'));
  expect([names(), inbox.isHeld, inbox.heldCount]).toEqual([[], true, 3]);
  inbox.release();
  inbox.receive(Buffer.from('{"type":"ping"}'));

  expect(names()).toEqual(['get_state', 'refused', 'abort', 'ping']);
  expect([inbox.isHeld, inbox.heldCount]).toEqual([false, 0]);
});

it('an inbox can be held again, and delivers nothing after close', () => {
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

it('lines over the rate are refused, and a flood is reported, also while held', () => {
  const { inbox, letters: received, tooMuch: floods } = newInbox();

  inbox.receive(lines(BURST_LINES + 10));
  inbox.release();
  expect(received.filter(({ verdict }) => verdict === 'refuse').length).toBeGreaterThan(0);
  expect(floods).toEqual([]);
  inbox.receive(lines(BURST_LINES + MAX_EXCESS_LINES));

  expect(floods.length).toBeGreaterThan(0);
});
