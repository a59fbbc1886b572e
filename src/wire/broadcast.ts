import type { AgentEvent, AssistantMessage, MessageUpdateEvent } from '../protocol/generated/vocabulary.ts';
import { fold, joined } from './fold.ts';
import type { Outbox } from './outbox.ts';

/** Where a listener is told of things. */
export type Mailbox = Pick<Outbox, 'event' | 'step' | 'isFull' | 'room'>;

/** One listener: its outbox, and whether it wants the entries themselves. */
export interface Listener {
  readonly outbox: Mailbox;
  readonly entries: boolean;
}

/** An answer that streams. What was told of it is kept with the deltas of a block as one, so that it can be told again. */
interface Answer {
  readonly opening: AssistantMessage;
  readonly told: MessageUpdateEvent[];
  message: AssistantMessage;
}

/** Tells every client what happens, in one order. The streaming answer is folded once, whoever listens. */
export class Broadcast {
  readonly #listeners = new Set<Listener>();
  #answer: Answer | undefined;

  /** Adds a client. One that arrives while an answer streams is told what it has missed of it. */
  add(listener: Listener): void {
    this.#listeners.add(listener);
    if (this.#answer) catchUp(listener.outbox, this.#answer);
  }

  remove(listener: Listener): void {
    this.#listeners.delete(listener);
  }

  publish(event: AgentEvent): void {
    if (event.type === 'message_update') {
      this.#step(event);
      return;
    }
    if (event.type === 'message_start' && event.message.role === 'assistant') {
      this.#answer = { opening: event.message, told: [], message: event.message };
    } else if (event.type === 'message_end' || event.type === 'agent_end') this.#answer = undefined;
    for (const { outbox, entries } of this.#listeners) {
      if (event.type !== 'entry_appended' || entries) outbox.event(event);
    }
  }

  /** Whether every client keeps up. */
  get hasRoom(): boolean {
    return [...this.#listeners].every(({ outbox }) => !outbox.isFull);
  }

  /** Undefined while every client keeps up; otherwise settles when one that is behind has caught up: ask again then. */
  room(): Promise<void> | undefined {
    for (const { outbox } of this.#listeners) {
      const room = outbox.room();
      if (room !== undefined) return room;
    }
    return undefined;
  }

  #step(update: MessageUpdateEvent): void {
    const answer = this.#answer;
    if (!answer) return;
    answer.message = fold(answer.message, update.assistantMessageEvent);
    remember(answer.told, update);
    for (const { outbox } of this.#listeners) outbox.step(update, answer.message);
  }
}

function remember(told: MessageUpdateEvent[], update: MessageUpdateEvent): void {
  const last = told.at(-1);
  const longer = last && joined(last, update);
  if (longer) told[told.length - 1] = longer;
  else told.push(update);
}

function catchUp(outbox: Mailbox, { opening, told }: Answer): void {
  outbox.event({ type: 'message_start', message: opening });
  let snapshot = opening;
  for (const update of told) {
    snapshot = fold(snapshot, update.assistantMessageEvent);
    outbox.step(update, snapshot);
  }
}
