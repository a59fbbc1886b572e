import type { RemoteSession } from '../../client/remote-session.ts';
import { connectionNews } from './connection-news.ts';
import { OwnMessages } from './own-messages.ts';
import { Retelling } from './retelling.ts';
import { Seat } from './seat.ts';

/** How long what was sent last may take to be acknowledged when whoever typed leaves. */
const LAST_WORDS_MS = 2000;

/**
 * Takes part in a session of a server until whoever sits at the terminal leaves: tells the end of what was said before,
 * what others say, and how the connection stands. Answers why there is no session any more, if that is why it is over.
 */
export async function join(session: RemoteSession): Promise<string | undefined> {
  const own = new OwnMessages();
  const seat = new Seat(session, {
    entered: () => session.retry(),
    sending: (message) => own.add(message),
    unsaid: (message) => own.drop(message),
  });
  const { printer } = seat;
  const retelling = new Retelling(own, printer);
  session.onEvent((event) => retelling.hear(event));
  session.onState(connectionNews(printer));
  const over = new Promise<string>((resolve) => session.onClose(({ message }) => resolve(message)));
  const reason = await Promise.race([over, seat.left.then(() => undefined)]);
  if (reason === undefined) await lastWords(session, seat);
  else seat.leave();
  return reason;
}

/** What was sent a moment ago may still be on its way. */
async function lastWords(session: RemoteSession, seat: Seat): Promise<void> {
  if (session.status.state !== 'open') return;
  const patience = new Promise<void>((resolve) => setTimeout(resolve, LAST_WORDS_MS).unref());
  await Promise.race([seat.answered(), patience]);
}
