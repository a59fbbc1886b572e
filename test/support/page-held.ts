import type { View, Visit } from './browser.ts';
import { type Home, open } from './open.ts';
import { enter } from './page-hands.ts';
import { servePage } from './page-server.ts';
import { conversation, keepSession } from './stored-session.ts';

/** The page of a session that another program has open, as soon as it says so. */
export async function visitHeld(visit: Visit, home: Home) {
  const path = keepSession(home, conversation(home.cwd));
  const holder = await open('stdio', { home, args: ['--session', path] });
  await holder.peer.ok({ type: 'get_state' });
  const server = await servePage({ home });
  const view: View = await enter(visit, server);
  await view.page.goto(`${server.address}?session=stored-1`);
  const heading = view.page.getByRole('heading', { name: 'This session is open in another program' });
  await heading.waitFor();
  return { ...view, holder, server, heading };
}
