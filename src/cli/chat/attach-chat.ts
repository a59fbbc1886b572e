import type { RemoteSession } from '../../client/remote-session.ts';
import { printConnectionStatus } from './connection-status.ts';
import { OwnMessages } from './own-messages.ts';
import { SessionPrinter } from './print-session.ts';
import { TerminalUi } from './terminal-ui.ts';

/** How long what was sent last may take to be acknowledged when whoever typed leaves. */
const ACKNOWLEDGE_TIMEOUT_MS = 2000;

/**
 * Takes part in a session of a server until whoever sits at the terminal leaves: tells the end of what was said before,
 * what others say, and how the connection stands. Answers why there is no session any more, if that is why it is over.
 */
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
  session.onState(printConnectionStatus(printer));
  const closed = new Promise<string>((resolve) => session.onClose(({ message }) => resolve(message)));
  const reason = await Promise.race([closed, ui.closed.then(() => undefined)]);
  if (reason === undefined) await waitForResponses(session, ui);
  else ui.close();
  return reason;
}

/** What was sent a moment ago may still be on its way. */
async function waitForResponses(session: RemoteSession, ui: TerminalUi): Promise<void> {
  if (session.status.state !== 'open') return;
  const timeout = new Promise<void>((resolve) => setTimeout(resolve, ACKNOWLEDGE_TIMEOUT_MS).unref());
  await Promise.race([ui.whenAcknowledged(), timeout]);
}
