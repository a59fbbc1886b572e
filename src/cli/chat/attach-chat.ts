import type { ConnectionState, ConnectionStatus } from '../../client/remote/reconnecting-socket.ts';
import type { RemoteSession } from '../../client/remote/remote-session.ts';
import { OwnMessages } from './own-messages.ts';
import { SessionPrinter } from './print-session.ts';
import type { Printer } from './printer.ts';
import { TerminalUi } from './terminal-ui.ts';

// The longest wait for the responses to the last messages when the user leaves.
const ACKNOWLEDGE_TIMEOUT_MS = 2000;

/** Runs the chat on a server session until the user leaves. Returns the reason if the session was closed. */
export async function runAttachedChat(session: RemoteSession): Promise<string | undefined> {
  const own = new OwnMessages();
  const ui = new TerminalUi(session, {
    onEnter: () => session.retry(),
    onSend: (message) => own.add(message),
    onDiscard: (message) => own.drop(message),
  });
  const { printer } = ui;
  const sessionPrinter = new SessionPrinter(own, printer);
  session.onEvent((event) => sessionPrinter.handleEvent(event));
  ui.showApprovalMode();
  session.onState(printConnectionStatus(printer));
  const closed = new Promise<string>((resolve) => session.onClose(({ message }) => resolve(message)));
  const reason = await Promise.race([closed, ui.closed.then(() => undefined)]);
  if (reason === undefined) await waitForResponses(session, ui);
  else ui.close();
  return reason;
}

async function waitForResponses(session: RemoteSession, ui: TerminalUi): Promise<void> {
  if (session.status.state !== 'open') return;
  const timeout = new Promise<void>((resolve) => setTimeout(resolve, ACKNOWLEDGE_TIMEOUT_MS).unref());
  await Promise.race([ui.whenAcknowledged(), timeout]);
}

/** Prints when the connection is lost and when it is restored. */
export function printConnectionStatus(printer: Printer): (status: ConnectionStatus) => void {
  let previous: ConnectionState = 'connecting';
  return ({ state, reason, attempt }) => {
    // Enter begins a retry that is pending already.
    const begins = state === 'reconnecting' && attempt === 1 && previous !== 'reconnecting';
    if (begins) printer.note(reason ? `Reconnecting… (${reason})` : 'Reconnecting…');
    if (state === 'lost') printer.failure(`Connection lost: ${reason} (Enter tries again, Ctrl-D exits)`);
    if (state === 'open' && (previous === 'reconnecting' || previous === 'lost')) printer.note('Connected again.');
    previous = state;
  };
}
