import { firstLine } from '../../protocol/matching/first-line.ts';
import { formatCount, formatDateTime, formatDollars, formatTokens, oneLine } from '../format.ts';
import { asText, contentText } from '../untyped.ts';
import { element, visibleTextNodes } from './element.ts';
import { type ExportedSession, totalsOf } from './session/exported-session.ts';

export function sessionTitle({ name, entries }: ExportedSession): string {
  const first = entries.find(({ kind }) => kind === 'user');
  return oneLine(name, 200) || oneLine(firstLine(contentText(first?.message['content'])), 90) || 'A session';
}

/** The header with folder, times, models, tokens and cost. */
export function sessionHeader(session: ExportedSession): HTMLElement {
  const { header, entries } = session;
  const totals = totalsOf(entries);
  const last = entries.at(-1)?.timestamp ?? '';
  const facts: [string, string][] = [
    ['Folder', asText(header['cwd'])],
    ['Began', formatDateTime(asText(header['timestamp']))],
    ['Ended', formatDateTime(last)],
    [totals.models.length > 1 ? 'Models' : 'Model', totals.models.join(', ').slice(0, 400)],
    [
      'Messages',
      `${totals.prompts} prompts, ${totals.responses} answers, ${formatCount(totals.toolCalls, 'tool call')}`,
    ],
    [
      'Tokens',
      `${formatTokens(totals.input)} in, ${formatTokens(totals.cached)} cached, ${formatTokens(totals.output)} out`,
    ],
    ['Cost', totals.cost > 0 ? formatDollars(totals.cost) : ''],
    ['Branches', totals.branches > 1 ? String(totals.branches) : ''],
  ];
  const list = facts
    .filter(([, value]) => value !== '')
    .map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, ...visibleTextNodes(value))));
  return element(
    'header',
    { class: 'session' },
    element('h1', { attributes: { dir: 'auto' } }, ...visibleTextNodes(sessionTitle(session))),
    element('dl', {}, ...list),
  );
}
