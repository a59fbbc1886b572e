import { element } from '../element.ts';
import { textOf, wordsOf } from '../fields.ts';
import { counted, dateAndTime, dollars, oneLine, tokens } from '../words.ts';
import { plainNodes } from './plain-nodes.ts';
import type { Session } from './session/session.ts';
import { totalsOf } from './session/totals.ts';

/** What the session is called: its name, else how it began. */
export function titleOfSession({ name, entries }: Session): string {
  const first = entries.find(({ kind }) => kind === 'user');
  return oneLine(name, 200) || oneLine(wordsOf(first?.message['content']), 90) || 'A session';
}

/** The facts of the session above the conversation. */
export function sessionHeader(session: Session): HTMLElement {
  const { header, entries } = session;
  const totals = totalsOf(entries);
  const last = entries.at(-1)?.timestamp ?? '';
  const facts: [string, string][] = [
    ['Folder', textOf(header['cwd'])],
    ['Began', dateAndTime(textOf(header['timestamp']))],
    ['Ended', dateAndTime(last)],
    [totals.models.length > 1 ? 'Models' : 'Model', totals.models.join(', ').slice(0, 400)],
    ['Messages', `${totals.questions} asked, ${totals.answers} answered, ${counted(totals.toolCalls, 'tool call')}`],
    ['Tokens', `${tokens(totals.input)} in, ${tokens(totals.cached)} cached, ${tokens(totals.output)} out`],
    ['Cost', totals.cost > 0 ? dollars(totals.cost) : ''],
    ['Branches', totals.branches > 1 ? String(totals.branches) : ''],
  ];
  const list = facts
    .filter(([, value]) => value !== '')
    .map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, ...plainNodes(value))));
  return element(
    'header',
    { class: 'session' },
    element('h1', { attributes: { dir: 'auto' } }, ...plainNodes(titleOfSession(session))),
    element('dl', {}, ...list),
  );
}
