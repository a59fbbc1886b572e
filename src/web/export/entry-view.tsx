import { render } from 'preact';
import { element } from '../element.ts';
import { entryOf, type Fields, numberOf, textOf } from '../fields.ts';
import { inAddress } from '../in-address.ts';
import { Place } from '../message/choices.tsx';
import { WholePage } from '../message/folded.tsx';
import { Message, type Surroundings } from '../message/message.tsx';
import { Marker } from '../message/summaries.tsx';
import { Unknown } from '../message/unknown.tsx';
import { dateAndTime } from '../words.ts';
import { plainNodes } from './plain-nodes.ts';
import type { Entry } from './session/session.ts';

/** What an entry has to know of others to be shown. */
interface EntryPlace {
  readonly around: Surroundings;
  readonly label: string | undefined;
  /** Whether the entry before it was also said by the agent. */
  readonly continues: boolean;
}

const markers: Readonly<Record<string, (fields: Fields) => string>> = {
  model_change: (fields) => `Model: ${textOf(fields['provider'])}/${textOf(fields['modelId'])}`,
  thinking_level_change: (fields) => `Thinking: ${textOf(fields['thinkingLevel'])}`,
  session_info: (fields) => `Named: ${textOf(fields['name']) || 'nothing'}`,
  context_edit: (fields) => `Context edited: ${textOf(fields['targetId'])}`,
};

/** Entries that are messages under another name. */
const roles: Readonly<Record<string, string>> = {
  custom_message: 'custom',
  compaction: 'compactionSummary',
  branch_summary: 'branchSummary',
};

const speakers: Readonly<Record<string, string>> = {
  user: 'You',
  assistant: 'Assistant',
  toolResult: 'Tool',
  bashExecution: 'You ran',
};

/** Whether an entry is part of what a reader of the conversation sees. */
export function isShown({ kind, fields, message }: Entry): boolean {
  if (kind === 'custom' || kind === 'custom_message') return (message['display'] ?? fields['display']) === true;
  return kind !== 'label' && kind !== 'usage';
}

/** Shows an entry: who speaks, when, and what it says. */
export function showEntry(entry: Entry, { around, label, continues }: EntryPlace): HTMLElement {
  const speaker = entryOf(speakers, entry.kind);
  const head = element(
    'header',
    { class: `who${continues ? ' continues' : ''}` },
    speaker !== undefined && element('h2', {}, speaker),
    label !== undefined && element('span', { class: 'label' }, ...plainNodes(label)),
    element('a', { class: 'permalink', attributes: { href: hashOf(entry), title: 'Link to this' } }, when(entry)),
  );
  const body = element('div');
  render(
    <WholePage.Provider value={true}>
      <Place name={entry.row}>
        <Body entry={entry} around={around} />
      </Place>
    </WholePage.Provider>,
    body,
  );
  const shown = element('article', { class: `entry ${speaker === undefined ? 'aside' : entry.kind}` }, head, body);
  shown.dataset['row'] = String(entry.row);
  return shown;
}

/** The address of an entry on this page. */
export const hashOf = ({ id }: { readonly id: string }): string => `#${inAddress(id)}`;

function when({ timestamp, message }: Entry): HTMLElement {
  const text = dateAndTime(timestamp) || dateAndTime(numberOf(message['timestamp'])) || '#';
  return element('time', { attributes: { datetime: timestamp.slice(0, 40) } }, text);
}

function Body({ entry, around }: { readonly entry: Entry; readonly around: Surroundings }) {
  const { type, kind, fields, message } = entry;
  if (type === 'message') return <Message message={message} around={around} />;
  const role = entryOf(roles, kind);
  if (role !== undefined) return <Message message={{ ...fields, role }} around={around} />;
  const marker = entryOf(markers, kind);
  return marker ? <Marker text={marker(fields)} /> : <Unknown title={type} value={fields} />;
}
