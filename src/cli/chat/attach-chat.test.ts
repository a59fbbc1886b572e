import { expect, it } from 'vitest';
import type { ConnectionStatus } from '../../client/remote/reconnecting-socket.ts';
import { printConnectionStatus } from './attach-chat.ts';
import { Printer, plainInk } from './printer.ts';

// The output for a sequence of connection states.
function printedFor(...states: readonly ConnectionStatus[]): string {
  let printed = '';
  const print = (text: string) => {
    printed += text;
  };
  states.forEach(printConnectionStatus(new Printer({ atLineStart: true, print }, plainInk)));
  return printed;
}

const retrying = (attempt: number): ConnectionStatus => ({ state: 'reconnecting', reason: 'The server left', attempt });

it('a reconnect is printed once, and so is its success', () => {
  expect(printedFor({ state: 'open' }, retrying(1), retrying(2), retrying(3), { state: 'open' })).toBe(
    'Reconnecting… (The server left)\nConnected again.\n',
  );
});

it('a lost connection is printed with the way to retry', () => {
  const lost = { state: 'lost', reason: 'The server left' } as const;

  expect(printedFor(retrying(5), lost, { state: 'reconnecting', attempt: 1 }, { state: 'open' })).toBe(
    'Connection lost: The server left (Enter tries again, Ctrl-D exits)\nReconnecting…\nConnected again.\n',
  );
});

it('a retry at Enter is not printed again', () => {
  expect(printedFor({ state: 'open' }, retrying(1), { state: 'reconnecting', attempt: 1 }, { state: 'open' })).toBe(
    'Reconnecting… (The server left)\nConnected again.\n',
  );
});
