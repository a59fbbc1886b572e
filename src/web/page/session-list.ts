import { randomUuid } from '../../client/random-uuid.ts';
import { messageOf } from '../../protocol/errors.ts';
import type { SessionSummary } from '../../protocol/generated/vocabulary.ts';
import { plainText } from '../code/plain-text.ts';
import { button, element } from '../element.ts';
import { counted, dateAndTime, oneLine } from '../export/words.ts';
import { listSessions, type Visitor } from './server.ts';

/** The sessions of this server, and a way to begin another. */
export function sessionList({ name, scopes }: Visitor): HTMLElement {
  const rows = element('ul', { class: 'sessions' });
  const below = element('div', { class: 'below' });
  const load = async (cursor?: string) => {
    try {
      const { sessions, nextCursor } = await listSessions(cursor);
      if (cursor === undefined) rows.replaceChildren();
      rows.append(...sessions.map(sessionRow));
      const isEmpty = rows.childElementCount === 0 && nextCursor === undefined;
      below.replaceChildren(isEmpty ? element('p', { class: 'note' }, 'No sessions yet.') : '');
      if (nextCursor !== undefined) below.append(button('More', { onClick: () => void load(nextCursor) }));
    } catch (error) {
      const again = button('Retry', { onClick: () => void load(cursor) });
      below.replaceChildren(element('p', { class: 'failure' }, messageOf(error)), again);
    }
  };
  void load();
  // What the sessions do has changed while nobody looked.
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && void load());
  const begin = button('New session', {
    class: 'main',
    onClick: () => location.assign(`?new=${randomUuid()}`),
  });
  begin.hidden = !scopes.includes('prompt');
  return element(
    'main',
    { class: 'list' },
    element('header', { class: 'row' }, element('h1', {}, 'Sessions'), begin),
    rows,
    below,
    element('footer', { class: 'note' }, 'Logged in as ', ...plainText(name)),
  );
}

function sessionRow({ id, name, title, firstMessage, cwd, lastModified, messageCount, status }: SessionSummary) {
  const words = oneLine(name || title || firstMessage, 160) || 'Nothing said yet';
  const facts = `${dateAndTime(lastModified)} · ${counted(messageCount, 'message')} · ${cwd}`;
  return element(
    'li',
    {},
    element(
      'a',
      { attributes: { href: `?session=${encodeURIComponent(id)}` } },
      element('span', { class: 'title' }, ...plainText(words)),
      status !== undefined && element('span', { class: `status ${status}` }, status),
      element('span', { class: 'note' }, ...plainText(facts)),
    ),
  );
}
