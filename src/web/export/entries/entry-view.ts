import { codeBlock } from '../../code/code-block.ts';
import { plainText } from '../../code/plain-text.ts';
import { element } from '../../element.ts';
import { blocksOf, type Fields, numberOf, prettyJson, textOf, wordsOf } from '../../fields.ts';
import { renderMarkdown } from '../../markdown/render.ts';
import { dateAndTime, tokens } from '../../words.ts';
import type { Entry } from '../session/session.ts';
import { answer } from './answer-view.ts';
import { clipped } from './clipped.ts';
import { picturesOf } from './pictures.ts';
import { toolCard } from './tools/card.ts';
import { command, output } from './tools/terminal.ts';

/** What an entry has to know of others to be shown. */
export interface Surroundings {
  /** The entry that holds the result of a tool call. */
  readonly resultOf: (callId: string) => Entry | undefined;
  /** How a tool call stands that is not over; undefined for one that is. */
  readonly progressOf?: ((callId: string) => string | undefined) | undefined;
  readonly labelOf: (entry: Entry) => string | undefined;
  /** Whether the entry before it was also said by the agent. */
  readonly continues: boolean;
  /** Where an entry can be found that is shown as a part of another. */
  readonly placed: (entry: Entry, place: HTMLElement) => void;
}

const views: Readonly<Record<string, (entry: Entry, around: Surroundings) => HTMLElement>> = {
  user: ({ message }) => element('div', { class: 'said' }, ...spoken(message['content'])),
  assistant: ({ message }, around) => answer(message, around),
  toolResult: ({ message }) => toolCard({ name: textOf(message['toolName']), call: {}, result: message }),
  bashExecution: ({ message }) => bashExecution(message),
  custom: ({ message }) => customMessage(message),
  custom_message: ({ fields }) => customMessage(fields),
  compaction: ({ fields }) => summary('Compacted', fields, tokensBefore(fields)),
  compactionSummary: ({ message }) => summary('Compacted', message, tokensBefore(message)),
  branch_summary: ({ fields }) => summary('Came back from another branch', fields, ''),
  branchSummary: ({ message }) => summary('Came back from another branch', message, ''),
  model_change: ({ fields }) => marker(`Model: ${textOf(fields['provider'])}/${textOf(fields['modelId'])}`),
  thinking_level_change: ({ fields }) => marker(`Thinking: ${textOf(fields['thinkingLevel'])}`),
  session_info: ({ fields }) => marker(`Named: ${textOf(fields['name']) || 'nothing'}`),
  context_edit: ({ fields }) => marker(`Context edited: ${textOf(fields['targetId'])}`),
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

/** Who speaks in entries of this kind; undefined where nobody does. */
export const speakerOf = (kind: string): string | undefined =>
  Object.hasOwn(speakers, kind) ? speakers[kind] : undefined;

/** What an entry says. One that cannot be understood is shown as it is stored. */
export function entryBody(entry: Entry, around: Surroundings): HTMLElement {
  try {
    return (Object.hasOwn(views, entry.kind) ? views[entry.kind] : undefined)?.(entry, around) ?? unknown(entry);
  } catch {
    return unknown(entry);
  }
}

/** Shows an entry: who speaks, when, and what it says. */
export function showEntry(entry: Entry, around: Surroundings): HTMLElement {
  const speaker = speakerOf(entry.kind);
  const label = around.labelOf(entry);
  const head = element(
    'header',
    { class: `who${around.continues ? ' continues' : ''}` },
    speaker !== undefined && element('h2', {}, speaker),
    label !== undefined && element('span', { class: 'label' }, ...plainText(label)),
    element('a', { class: 'permalink', attributes: { href: hashOf(entry), title: 'Link to this' } }, when(entry)),
  );
  const shown = element('article', { class: `entry ${speaker === undefined ? 'aside' : entry.kind}` }, head);
  shown.append(entryBody(entry, around));
  shown.dataset['row'] = String(entry.row);
  return shown;
}

/** The address of an entry on this page. */
export const hashOf = ({ id }: { readonly id: string }): string => `#${encodeURIComponent(wellFormed(id))}`;

/** Half a character has no address. */
const wellFormed = (text: string) => text.replaceAll(/\p{Surrogate}/gu, '\ufffd');

function when({ timestamp, message }: Entry): HTMLElement {
  const text = dateAndTime(timestamp) || dateAndTime(numberOf(message['timestamp'])) || '#';
  return element('time', { attributes: { datetime: timestamp.slice(0, 40) } }, text);
}

const spoken = (content: unknown): HTMLElement[] => [
  ...(wordsOf(content) === '' ? [] : [renderMarkdown(wordsOf(content))]),
  ...picturesOf(content),
];

function bashExecution(message: Fields): HTMLElement {
  const code = message['exitCode'];
  const state = message['cancelled'] === true ? 'stopped' : typeof code === 'number' ? `exit ${code}` : '';
  const failed = state !== '' && state !== 'exit 0';
  const hidden = message['excludeFromContext'] === true ? 'not told to the model' : '';
  const head = element(
    'header',
    {},
    element('span', { class: 'tool-name' }, 'bash'),
    element('span', { class: 'tool-about' }, hidden),
    element('span', { class: `outcome${failed ? ' failed' : ''}` }, state),
  );
  const body = [command(textOf(message['command'])), output(textOf(message['output']))];
  return element('section', { class: `tool${failed ? ' failed' : ''}` }, head, ...body);
}

const customMessage = (fields: Fields): HTMLElement =>
  element(
    'section',
    { class: 'custom' },
    element('p', { class: 'note' }, ...plainText(textOf(fields['customType']))),
    ...spoken(blocksOf(fields['content'])),
  );

function summary(title: string, fields: Fields, note: string): HTMLElement {
  const text = textOf(fields['summary']);
  if (text === '') return marker(title);
  const head = element('summary', {}, title, note !== '' && element('span', { class: 'note' }, ` ${note}`));
  return element('details', { class: 'summary' }, head, renderMarkdown(text));
}

function tokensBefore(fields: Fields): string {
  const before = numberOf(fields['tokensBefore']);
  return before > 0 ? `from ${tokens(before)} tokens` : '';
}

const marker = (text: string): HTMLElement => element('p', { class: 'marker' }, ...plainText(text.slice(0, 300)));

function unknown({ type, fields }: Entry): HTMLElement {
  const title = element('summary', {}, ...plainText(type.slice(0, 80)));
  const json = prettyJson(fields);
  const body = json.length > 20_000 ? clipped(json, { keep: 'head', lines: 200 }) : codeBlock(json, 'json');
  return element('details', { class: 'summary' }, title, body);
}
