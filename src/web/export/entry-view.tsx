import { render } from 'preact';
import { formatDateTime } from '../format.ts';
import { RenderFolded } from '../message/folded.tsx';
import { Message, type MessageContext } from '../message/message.tsx';
import { Marker } from '../message/summaries.tsx';
import { UnknownContent } from '../message/unknown-content.tsx';
import { ViewScope } from '../message/view-state.tsx';
import { asNumber, ownProperty } from '../untyped.ts';
import { encodeUrlPart } from '../url-part.ts';
import { element, visibleTextNodes } from './element.ts';
import { markerText } from './session/entry-text.ts';
import type { TreeEntry } from './session/exported-session.ts';

interface EntryContext {
  readonly context: MessageContext;
  readonly label: string | undefined;
  // Whether the previous entry was also an assistant message.
  readonly continues: boolean;
}

// Message roles of entries that are not stored as messages.
const messageRoles: Readonly<Record<string, string>> = {
  custom_message: 'custom',
  compaction: 'compactionSummary',
  branch_summary: 'branchSummary',
};

const roleNames: Readonly<Record<string, string>> = {
  user: 'You',
  assistant: 'Assistant',
  toolResult: 'Tool',
  bashExecution: 'You ran',
};

export function isVisible({ kind, fields, message }: TreeEntry): boolean {
  if (kind === 'custom' || kind === 'custom_message') return (message['display'] ?? fields['display']) === true;
  return kind !== 'label' && kind !== 'usage';
}

/** Renders an entry with its role, label and time. */
export function renderEntry(entry: TreeEntry, { context, label, continues }: EntryContext): HTMLElement {
  const roleName = ownProperty(roleNames, entry.kind);
  const head = element(
    'header',
    { class: `head${continues ? ' continues' : ''}` },
    roleName !== undefined && element('h2', {}, roleName),
    label !== undefined && element('span', { class: 'label' }, ...visibleTextNodes(label)),
    element('a', { class: 'permalink', attributes: { href: hashOf(entry), title: 'Link to this' } }, timeOf(entry)),
  );
  const body = element('div');
  render(
    <RenderFolded.Provider value={true}>
      <ViewScope name={entry.row}>
        <EntryBody entry={entry} context={context} />
      </ViewScope>
    </RenderFolded.Provider>,
    body,
  );
  const article = element('article', { class: `entry ${roleName === undefined ? 'aside' : entry.kind}` }, head, body);
  article.dataset['row'] = String(entry.row);
  return article;
}

export const hashOf = ({ id }: { readonly id: string }): string => `#${encodeUrlPart(id)}`;

function timeOf({ timestamp, message }: TreeEntry): HTMLElement {
  const text = formatDateTime(timestamp) || formatDateTime(asNumber(message['timestamp'])) || '#';
  return element('time', { attributes: { datetime: timestamp.slice(0, 40) } }, text);
}

function EntryBody({ entry, context }: { readonly entry: TreeEntry; readonly context: MessageContext }) {
  const { type, kind, fields, message } = entry;
  if (type === 'message') return <Message message={message} context={context} />;
  const role = ownProperty(messageRoles, kind);
  if (role !== undefined) return <Message message={{ ...fields, role }} context={context} />;
  const marker = markerText(entry);
  return marker ? <Marker text={marker} /> : <UnknownContent title={type} value={fields} />;
}
