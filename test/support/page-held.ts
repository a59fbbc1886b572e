import type { View, Visit } from './browser.ts';
import { type Home, openTestAgent } from './open.ts';
import { visitByLoginLink } from './page-hands.ts';
import { servePage } from './page-server.ts';
import { shortConversation, storeSession } from './stored-session.ts';

/** Opens the page of a session that another program has locked and waits for the notice. */
export async function visitLockedSession(visit: Visit, home: Home) {
  const path = storeSession(home, shortConversation(home.cwd));
  const holder = await openTestAgent('stdio', { home, args: ['--session', path] });
  await holder.peer.ok({ type: 'get_state' });
  const server = await servePage({ home });
  const view: View = await visitByLoginLink(visit, server);
  await view.page.goto(`${server.address}?session=stored-1`);
  const heading = view.page.getByRole('heading', { name: 'This session is open in another program' });
  await heading.waitFor();
  return { ...view, holder, server, heading };
}
