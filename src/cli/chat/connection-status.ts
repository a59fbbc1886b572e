import type { ConnectionStatus } from '../../client/reconnecting-socket.ts';
import type { Printer } from './printer.ts';

/** Prints when the connection is lost and when it is restored. */
export function printConnectionStatus(printer: Printer): (status: ConnectionStatus) => void {
  let isDown = false;
  return ({ state, reason, attempt }) => {
    if (state === 'reconnecting' && attempt === 1) printer.note(reason ? `Reconnecting… (${reason})` : 'Reconnecting…');
    if (state === 'lost') printer.failure(`Connection lost: ${reason} (Enter tries again, Ctrl-D leaves)`);
    if (state === 'open' && isDown) printer.note('Connected again.');
    isDown = state === 'reconnecting' || state === 'lost';
  };
}
