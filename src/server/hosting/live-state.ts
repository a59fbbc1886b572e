import { eventsOfRun, idleRun, type LiveRun, reduceRun } from '../../fanout/live-run.ts';
import { clearingRequest, isDialogMethod, stickySlot, withRemainingTimeout } from '../../protocol/dialog-methods.ts';
import type {
  AgentEvent,
  AssistantMessage,
  CompactionStartEvent,
  ExtensionUiRequestEvent,
} from '../../protocol/generated/vocabulary.ts';
import { newUuid } from '../../store/sessions/random-id.ts';
import { StreamingMessage } from '../../wire/assistant-message.ts';
import { SessionRecord } from '../session-record.ts';

// Statuses, widgets and titles that are kept.
const MAX_STICKY_UI = 200;

/** The running state of a session: everything beside the conversation that a newly attached client has to get. */
export class LiveState {
  readonly dialogs = new Map<string, ExtensionUiRequestEvent>();
  readonly #requestedAt = new WeakMap<ExtensionUiRequestEvent, number>();
  readonly #stickyUi = new Map<string, ExtensionUiRequestEvent>();
  #message: StreamingMessage | undefined;
  #run: LiveRun = idleRun;
  #compaction: CompactionStartEvent | undefined;
  /** Between `agent_start` and `agent_end`. */
  isWorking = false;

  get isCompacting(): boolean {
    return this.#compaction !== undefined;
  }

  get compaction(): CompactionStartEvent | undefined {
    return this.#compaction;
  }

  /** Applies an event; returns the message so far if the event updates one. */
  apply(event: AgentEvent): AssistantMessage | undefined {
    this.#run = reduceRun(this.#run, event);
    switch (event.type) {
      case 'agent_start':
        this.isWorking = true;
        return undefined;
      case 'agent_end':
      case 'agent_settled':
        this.isWorking = false;
        this.#message = undefined;
        return undefined;
      case 'message_start':
        if (event.message.role === 'assistant') this.#message = new StreamingMessage(event.message);
        return undefined;
      case 'message_update':
        return this.#message?.apply(event);
      case 'message_end':
        this.#message = undefined;
        return undefined;
      case 'compaction_start':
        this.#compaction = event;
        return undefined;
      case 'compaction_end':
        this.#compaction = undefined;
        return undefined;
      case 'extension_ui_request':
        this.#applyUiRequest(event);
        return undefined;
      case 'extension_ui_resolved':
        this.dialogs.delete(event.id);
        return undefined;
      default:
        return undefined;
    }
  }

  /** Clears all running work after the agent exited. Sticky UI stays until it is cleared by events. */
  clear(): void {
    this.dialogs.clear();
    this.#run = idleRun;
    this.#message = undefined;
    this.#compaction = undefined;
    this.isWorking = false;
  }

  /** Events that clear statuses and widgets. A title can only be replaced. */
  *clearingEvents(): Generator<ExtensionUiRequestEvent> {
    for (const request of this.#stickyUi.values()) {
      const clearing = clearingRequest(request, newUuid());
      if (clearing) yield clearing;
    }
  }

  /** The events that bring a newly attached client up to date. */
  *toEvents(): Generator<SessionRecord> {
    if (this.#compaction) yield new SessionRecord(this.#compaction);
    for (const event of eventsOfRun(this.#run)) yield new SessionRecord(event);
    if (this.#message) yield new SessionRecord({ type: 'message_start', message: this.#message.initial });
    for (const { update, snapshot } of this.#message?.replay() ?? [])
      yield new SessionRecord(update, { messageSoFar: snapshot });
    for (const request of this.#stickyUi.values()) yield new SessionRecord(request);
    for (const request of this.dialogs.values()) yield this.repeat(request);
  }

  /** An open dialog for a client that gets it again, with the time that is left. */
  repeat(dialog: ExtensionUiRequestEvent): SessionRecord {
    const elapsedMs = performance.now() - (this.#requestedAt.get(dialog) ?? 0);
    return new SessionRecord(withRemainingTimeout(dialog, elapsedMs));
  }

  /** Whether an assistant message streams: its deltas are useless to a client without its beginning. */
  get isStreaming(): boolean {
    return this.#message !== undefined;
  }

  #applyUiRequest(request: ExtensionUiRequestEvent): void {
    if (isDialogMethod(request.method)) {
      this.dialogs.set(request.id, request);
      this.#requestedAt.set(request, performance.now());
    }
    const { key, clears } = stickySlot(request);
    if (key === undefined) return;
    this.#stickyUi.delete(key);
    if (!clears && this.#stickyUi.size < MAX_STICKY_UI) this.#stickyUi.set(key, request);
  }
}
