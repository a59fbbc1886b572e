import type { ConversationView } from '../../../../client/view/view.ts';
import type { AgentMessage, AssistantMessage } from '../../../../protocol/generated/vocabulary.ts';
import { asObjects, asText } from '../../../untyped.ts';

/** A row of the conversation. */
export interface MessageRow {
  /** Stable for the life of a message, also from streaming to finished. */
  readonly key: number;
  /** Undefined for the streaming message. */
  readonly message: AgentMessage | undefined;
  /** Tool results by tool call id. */
  readonly results: ReadonlyMap<string, AgentMessage>;
  /** Whether the previous row is an assistant message, too. */
  readonly continues: boolean;
  /** The time of the message, when its day differs from the previous row. */
  readonly day: number | undefined;
  /** The model from here on, when it differs from the previous one. */
  readonly model: string | undefined;
  /** The key of the summary of a compaction after this row. */
  readonly summary: number | undefined;
}

type RowSource = Pick<ConversationView, 'messages' | 'streamingMessage' | 'earlier'>;

const NO_RESULTS: ReadonlyMap<string, AgentMessage> = new Map();

/** Builds rows from messages. An unchanged row keeps its identity. */
export class Rows {
  readonly #keys = new WeakMap<AgentMessage, number>();
  readonly #rows = new WeakMap<AgentMessage, MessageRow>();
  #lastKey = 0;
  /** The key of the streaming message, until it is finished. */
  #streamingKey: number | undefined;
  #streaming: MessageRow | undefined;

  of({ messages, streamingMessage: answer, earlier }: RowSource): readonly MessageRow[] {
    this.#assignKeys(messages, answer);
    const marker = new RowMarker(earlier === undefined);
    const drafts: RowDraft[] = [];
    const callRows = new Map<string, RowDraft>();
    for (const message of messages) {
      const callRow = message.role === 'toolResult' ? callRows.get(message.toolCallId) : undefined;
      if (message.role === 'toolResult' && callRow) {
        callRow.results ??= new Map();
        callRow.results.set(message.toolCallId, message);
      } else if (isShown(message)) {
        const draft = { message, results: undefined, marks: marker.marksOf(message) };
        for (const id of toolCallIds(message)) callRows.set(id, draft);
        drafts.push(draft);
      }
    }
    const answerMarks = answer && marker.marksOf(answer);
    const summaries = compactionSummaries(drafts.map(({ message }) => message));
    const rows = drafts.map((draft) => this.#row(draft, summaries.get(draft.message)));
    return answerMarks ? [...rows, this.#streamingRow(answerMarks)] : rows;
  }

  /** The first assistant message after the known ones takes over the key of the streaming one. */
  #assignKeys(messages: readonly AgentMessage[], answer: AssistantMessage | undefined): void {
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

  #row({ message, results, marks }: RowDraft, after: AgentMessage | undefined): MessageRow {
    const summary = after && this.#keys.get(after);
    const row = { key: this.#keys.get(message) ?? 0, message, results: results ?? NO_RESULTS, ...marks, summary };
    const before = this.#rows.get(message);
    if (before && isSame(before, row)) return before;
    this.#rows.set(message, row);
    return row;
  }

  #streamingRow(marks: RowMarks): MessageRow {
    const row = { key: this.#streamingKey ?? 0, message: undefined, results: NO_RESULTS, ...marks, summary: undefined };
    if (!this.#streaming || !isSame(this.#streaming, row)) this.#streaming = row;
    return this.#streaming;
  }
}

interface RowMarks extends Pick<MessageRow, 'continues' | 'day'> {
  model: MessageRow['model'];
}

interface RowDraft {
  readonly message: AgentMessage;
  readonly marks: RowMarks;
  results: Map<string, AgentMessage> | undefined;
}

/** Extensions may add messages for the model only. */
const isShown = (message: AgentMessage) => message.role !== 'custom' || message.display === true;

/** Returns the tool call ids of a message. */
export const toolCallIds = (message: AgentMessage): string[] =>
  message.role === 'assistant'
    ? asObjects(message.content).flatMap(({ type, id }) => (type === 'toolCall' ? [asText(id)] : []))
    : [];

function isSame(one: MessageRow, other: MessageRow): boolean {
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

/** Walks a conversation and marks what differs from the previous message. */
class RowMarker {
  readonly #isWhole: boolean;
  #role: string | undefined;
  #model: string | undefined;
  // The first prompt since the last assistant message.
  #firstPrompt: RowMarks | undefined;
  #midnight = Number.NaN;
  #nextMidnight = Number.NaN;

  /** With the whole history, the first message shows its day unless that is today. */
  constructor(isWhole: boolean) {
    this.#isWhole = isWhole;
  }

  marksOf(message: AgentMessage): RowMarks {
    const continues = this.#role === 'assistant' && message.role === 'assistant';
    const marks: RowMarks = { continues, day: this.#dayChange(message.timestamp), model: undefined };
    this.#role = message.role;
    if (message.role === 'user') this.#firstPrompt ??= marks;
    if (message.role === 'assistant') {
      // A model chosen before the prompt is known only from the assistant message.
      (this.#firstPrompt ?? marks).model = this.#modelChange(message);
      this.#firstPrompt = undefined;
    }
    return marks;
  }

  #dayChange(moment: number): number | undefined {
    if (!isValidTime(moment) || (moment >= this.#midnight && moment < this.#nextMidnight)) return undefined;
    const isFirst = Number.isNaN(this.#midnight);
    this.#midnight = midnight(moment, 0);
    this.#nextMidnight = midnight(moment, 1);
    const isToday = Date.now() >= this.#midnight && Date.now() < this.#nextMidnight;
    return isFirst && (isToday || !this.#isWhole) ? undefined : moment;
  }

  #modelChange(message: AssistantMessage): string | undefined {
    const before = this.#model;
    const model = asText(message.model);
    this.#model = `${asText(message.provider)}/${model}`;
    return before === undefined || before === this.#model ? undefined : model;
  }
}

/** Dates have a range. */
const isValidTime = (value: number) => Number.isFinite(value) && !Number.isNaN(new Date(value).getTime());

/** Returns the midnight before a time, plus a number of days. */
const midnight = (moment: number, days: number): number => {
  const date = new Date(moment);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + days).getTime();
};

// Maps the last message before each compaction to its summary. A summary precedes the kept messages and carries the
// time of the compaction.
function compactionSummaries(messages: readonly AgentMessage[]): ReadonlyMap<AgentMessage, AgentMessage> {
  const summaries = new Map<AgentMessage, AgentMessage>();
  for (const [index, summary] of messages.entries()) {
    if (!isSummary(summary)) continue;
    const wasThere = (message: AgentMessage) => !isSummary(message) && message.timestamp <= summary.timestamp;
    const last = messages.findLastIndex(wasThere);
    const message = messages[last];
    if (message && last > index) summaries.set(message, summary);
  }
  return summaries;
}

const isSummary = ({ role }: AgentMessage) => role === 'compactionSummary';
