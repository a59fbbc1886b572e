import type { ConversationView } from '../../../../client/view/view.ts';
import type { AgentMessage, AssistantMessage } from '../../../../protocol/generated/vocabulary.ts';
import { listOf, textOf } from '../../../fields.ts';
import { compactionsIn } from './compactions.ts';

/** A message as it stands in the conversation. */
export interface Row {
  /** The same as long as the message is there, also when it was an answer that is streaming before. */
  readonly key: number;
  /** Undefined for the answer that is streaming. */
  readonly message: AgentMessage | undefined;
  /** The results of its tool calls, by the ids of these. */
  readonly results: ReadonlyMap<string, AgentMessage>;
  /** Whether the same agent has spoken right before. */
  readonly continues: boolean;
  /** The moment it was said at, where that is another day than before. */
  readonly day: number | undefined;
  /** The model that answers from here on, where that is another one than before. */
  readonly model: string | undefined;
  /** The key of the summary that was made after it; undefined where none was. */
  readonly summary: number | undefined;
}

type Spoken = Pick<ConversationView, 'messages' | 'streamingMessage' | 'earlier'>;

const NO_RESULTS: ReadonlyMap<string, AgentMessage> = new Map();

/** Makes rows of messages. A row of which nothing has changed is the same object as before. */
export class Rows {
  readonly #keys = new WeakMap<AgentMessage, number>();
  readonly #rows = new WeakMap<AgentMessage, Row>();
  #lastKey = 0;
  /** The key of the answer that is streaming, until it is a message. */
  #streamingKey: number | undefined;
  #streaming: Row | undefined;

  of({ messages, streamingMessage: answer, earlier }: Spoken): readonly Row[] {
    this.#number(messages, answer);
    const course = new Course(earlier === undefined);
    const drafts: Draft[] = [];
    const callers = new Map<string, Draft>();
    for (const message of messages) {
      const caller = message.role === 'toolResult' ? callers.get(message.toolCallId) : undefined;
      if (message.role === 'toolResult' && caller) {
        caller.results ??= new Map();
        caller.results.set(message.toolCallId, message);
      } else if (isShown(message)) {
        const draft = { message, results: undefined, place: course.follow(message) };
        for (const id of callsOf(message)) callers.set(id, draft);
        drafts.push(draft);
      }
    }
    const place = answer && course.follow(answer);
    const summaries = compactionsIn(drafts.map(({ message }) => message));
    const rows = drafts.map((draft) => this.#row(draft, summaries.get(draft.message)));
    return place ? [...rows, this.#streamingRow(place)] : rows;
  }

  /** The answer that was streaming is the first one that was added behind what is known. */
  #number(messages: readonly AgentMessage[], answer: AssistantMessage | undefined): void {
    const added = messages.findLastIndex((message) => this.#keys.has(message)) + 1;
    for (const [index, message] of messages.entries()) {
      if (this.#keys.has(message)) continue;
      const isStreamed = index >= added && message.role === 'assistant' && this.#streamingKey !== undefined;
      this.#keys.set(message, isStreamed ? (this.#streamingKey ?? 0) : ++this.#lastKey);
      if (isStreamed) this.#streamingKey = undefined;
    }
    if (answer) this.#streamingKey ??= ++this.#lastKey;
    else if (messages.length === 0) this.#streamingKey = undefined;
  }

  #row({ message, results, place }: Draft, after: AgentMessage | undefined): Row {
    const summary = after && this.#keys.get(after);
    const row = { key: this.#keys.get(message) ?? 0, message, results: results ?? NO_RESULTS, ...place, summary };
    const before = this.#rows.get(message);
    if (before && isSame(before, row)) return before;
    this.#rows.set(message, row);
    return row;
  }

  #streamingRow(place: RowPlace): Row {
    const row = { key: this.#streamingKey ?? 0, message: undefined, results: NO_RESULTS, ...place, summary: undefined };
    if (!this.#streaming || !isSame(this.#streaming, row)) this.#streaming = row;
    return this.#streaming;
  }
}

interface RowPlace extends Pick<Row, 'continues' | 'day'> {
  model: Row['model'];
}

interface Draft {
  readonly message: AgentMessage;
  readonly place: RowPlace;
  results: Map<string, AgentMessage> | undefined;
}

/** What an extension has put there may be for the model only. */
const isShown = (message: AgentMessage) => message.role !== 'custom' || message.display === true;

/** The ids of the tool calls of a message. */
export const callsOf = (message: AgentMessage): string[] =>
  message.role === 'assistant'
    ? listOf(message.content).flatMap(({ type, id }) => (type === 'toolCall' ? [textOf(id)] : []))
    : [];

function isSame(one: Row, other: Row): boolean {
  return (
    one.key === other.key &&
    one.continues === other.continues &&
    one.day === other.day &&
    one.model === other.model &&
    one.summary === other.summary &&
    one.results.size === other.results.size &&
    [...one.results].every(([id, result]) => other.results.get(id) === result)
  );
}

/** Goes along a conversation and says what is other than before. */
class Course {
  readonly #isWhole: boolean;
  #role: string | undefined;
  #model: string | undefined;
  /** Where the user has spoken first since the last answer. */
  #question: RowPlace | undefined;
  #midnight = Number.NaN;
  #nextMidnight = Number.NaN;

  /** Where the first message is that of the conversation, its day is told unless that is today. */
  constructor(isWhole: boolean) {
    this.#isWhole = isWhole;
  }

  follow(message: AgentMessage): RowPlace {
    const continues = this.#role === 'assistant' && message.role === 'assistant';
    const place: RowPlace = { continues, day: this.#day(message.timestamp), model: undefined };
    this.#role = message.role;
    if (message.role === 'user') this.#question ??= place;
    if (message.role === 'assistant') {
      // Only the answer tells of a model that was chosen before the question.
      (this.#question ?? place).model = this.#otherModel(message);
      this.#question = undefined;
    }
    return place;
  }

  #day(moment: number): number | undefined {
    if (!isMoment(moment) || (moment >= this.#midnight && moment < this.#nextMidnight)) return undefined;
    const isFirst = Number.isNaN(this.#midnight);
    this.#midnight = midnight(moment, 0);
    this.#nextMidnight = midnight(moment, 1);
    const isToday = Date.now() >= this.#midnight && Date.now() < this.#nextMidnight;
    return isFirst && (isToday || !this.#isWhole) ? undefined : moment;
  }

  #otherModel(message: AssistantMessage): string | undefined {
    const before = this.#model;
    const model = textOf(message.model);
    this.#model = `${textOf(message.provider)}/${model}`;
    return before === undefined || before === this.#model ? undefined : model;
  }
}

/** Dates end a long time from now. */
const isMoment = (value: number) => Number.isFinite(value) && !Number.isNaN(new Date(value).getTime());

/** When a day begins, or one of the days after it. */
const midnight = (moment: number, days: number): number => {
  const date = new Date(moment);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + days).getTime();
};
