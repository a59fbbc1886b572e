import type { ConnectionStatus } from '../../client/reconnecting-socket.ts';
import { plainText } from '../code/plain-text.ts';
import { button, element } from '../element.ts';

const words = {
  connecting: 'Connecting…',
  open: '',
  reconnecting: 'Reconnecting…',
  lost: 'Connection Lost',
  closed: 'The connection was closed',
} as const;

/** What is wrong with the connection, and what can be done about it; nothing while it stands. */
export function connectionLine({ state, reason, attempt }: ConnectionStatus, retry: () => void): HTMLElement[] {
  if (state === 'open') return [];
  const facts = [state === 'reconnecting' && attempt !== undefined && `Attempt ${attempt}`, reason];
  const note = element('span', { class: 'note' }, ...plainText(facts.filter(Boolean).join(' · ')));
  return [
    element('p', {}, element('strong', {}, words[state]), ' ', note),
    ...(state === 'lost' ? [button('Retry', { class: 'main', onClick: retry })] : []),
  ];
}
