import { messageOf } from '../../protocol/errors.ts';
import { button, element } from '../element.ts';
import { loginForm } from './login-form.ts';
import { logIn, ServerRefusal, type Visitor, whoIsIn } from './server.ts';
import { sessionList } from './session-list.ts';
import { SessionPage } from './session-page.ts';

const CODE = '#code=';

/** Shows the session that the address names, or the list of them, to whoever may see it. */
async function start(): Promise<void> {
  const visitor = await enter();
  if (!visitor) return;
  const query = new URLSearchParams(location.search);
  const session = query.get('session') ?? undefined;
  const id = query.get('new') ?? undefined;
  if (session === undefined && id === undefined) document.body.replaceChildren(sessionList(visitor));
  else new SessionPage({ session, id }, visitor).open();
}

/** A login link lets this browser in. One that was used up does no harm to whoever is in already. */
async function enter(): Promise<Visitor | undefined> {
  const code = location.hash.startsWith(CODE) ? location.hash.slice(CODE.length) : undefined;
  if (code !== undefined) history.replaceState(null, '', location.pathname + location.search);
  let refusal: string | undefined;
  try {
    if (code !== undefined) return await logIn({ code });
  } catch (error) {
    if (!(error instanceof ServerRefusal)) throw error;
    refusal = error.status === 401 ? 'This login link was used already, or is too old.' : error.message;
  }
  const visitor = await whoIsIn();
  if (!visitor) document.body.replaceChildren(loginForm(refusal));
  return visitor;
}

// A login link that is followed from this very page loads nothing by itself.
addEventListener('hashchange', () => location.hash.startsWith(CODE) && location.reload());
start().catch((error: unknown) => {
  const again = button('Retry', { class: 'main', onClick: () => location.reload() });
  document.body.replaceChildren(
    element('main', { class: 'alone' }, element('p', { class: 'failure' }, messageOf(error)), again),
  );
});
