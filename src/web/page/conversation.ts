import type { View } from '../../client/view.ts';
import type { AgentMessage } from '../../protocol/generated/vocabulary.ts';
import { element } from '../element.ts';
import { entryBody, speakerOf } from '../export/entries/entry-view.ts';
import { type Fields, listOf, textOf } from '../export/session/fields.ts';
import type { Entry } from '../export/session/session.ts';
import { Slot } from './slot.ts';

/** What came of a tool call so far, and how it stands while it is not over. */
interface Outcome {
  readonly message: object | undefined;
  readonly progress: string | undefined;
}

/** What was said in a session, message by message; the last one may be streaming. */
export class Conversation {
  readonly place = element('div', { class: 'conversation' });
  #slots: Slot[] = [];

  draw(view: View): void {
    const messages = [...view.messages, ...(view.answer ? [view.answer] : [])];
    const outcomes = outcomesOf(view, messages);
    const calls = new Set(messages.flatMap(callsOf));
    const shown = messages.filter((message) => isShown(message, calls));
    while (this.#slots.length < shown.length) {
      const slot = new Slot('message');
      this.#slots.push(slot);
      this.place.append(slot.place);
    }
    for (const { place } of this.#slots.splice(shown.length)) place.remove();
    for (const [at, message] of shown.entries()) {
      const continues = message.role === 'assistant' && shown[at - 1]?.role === 'assistant';
      const needed = callsOf(message).map((id) => outcomes.get(id));
      const from = [message, continues, ...needed.flatMap((outcome) => [outcome?.message, outcome?.progress])];
      this.#slots[at]?.draw(from, () => [shownMessage(message, { continues, outcomes })]);
    }
  }
}

function outcomesOf({ tools, running }: View, messages: readonly AgentMessage[]): ReadonlyMap<string, Outcome> {
  const last = messages.findLast(({ role }) => role === 'assistant');
  const results = messages.flatMap((message) => (message.role === 'toolResult' ? [message] : []));
  return new Map<string, Outcome>([
    ...messages.flatMap((message) => {
      const progress = message === last && running ? 'waiting' : undefined;
      return callsOf(message).map((id) => [id, { message: undefined, progress }] as const);
    }),
    ...tools.map(({ toolCallId, progress }) => [toolCallId, { message: progress, progress: 'running' }] as const),
    ...results.map((message) => [message.toolCallId, { message, progress: undefined }] as const),
  ]);
}

function shownMessage(
  message: AgentMessage,
  { continues, outcomes }: { continues: boolean; outcomes: ReadonlyMap<string, Outcome> },
): HTMLElement {
  const speaker = speakerOf(message.role);
  const around = {
    continues,
    resultOf: (id: string) => {
      const result = outcomes.get(id)?.message;
      return result && entryOf(result);
    },
    progressOf: (id: string) => outcomes.get(id)?.progress,
    labelOf: () => undefined,
    placed: () => {},
  };
  return element(
    'article',
    { class: `entry ${speaker === undefined ? 'aside' : message.role}` },
    speaker !== undefined &&
      element('header', { class: `who${continues ? ' continues' : ''}` }, element('h2', {}, speaker)),
    entryBody(entryOf(message), around),
  );
}

/** A message as an entry of its own. */
function entryOf(message: object): Entry {
  const fields = message as Fields;
  const kind = String(fields['role']);
  return { id: '', type: kind, kind, timestamp: '', row: 0, parent: undefined, children: [], fields, message: fields };
}

/** Results are part of the answers that asked for them, if those are there. */
function isShown(message: AgentMessage, calls: ReadonlySet<string>): boolean {
  if (message.role === 'custom') return message.display;
  return message.role !== 'toolResult' || !calls.has(message.toolCallId);
}

const callsOf = (message: AgentMessage): string[] =>
  message.role === 'assistant'
    ? listOf(message.content).flatMap(({ type, id }) => (type === 'toolCall' ? [textOf(id)] : []))
    : [];
