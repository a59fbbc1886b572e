import { RecentIds } from '../../client/recent-ids.ts';
import type {
  AgentEvent,
  AgentMessage,
  AssistantBlock,
  AssistantMessageEvent,
  SessionState,
} from '../../protocol/generated/vocabulary.ts';
import type { OwnMessages } from './own-messages.ts';
import { printHistory, quote, textOfContent } from './print-history.ts';
import type { Printer } from './printer.ts';

/** Prints what `Printer` does not: the header, the history and the messages of other clients. */
export class SessionPrinter {
  readonly #own: OwnMessages;
  readonly #printer: Printer;
  #sessionId: string | undefined;
  /** The timestamp of the last printed message. */
  #latestTimestamp = 0;
  readonly #printed = new RecentIds();
  /** The streaming message, and how many characters of each block are printed. */
  #streaming: { readonly timestamp: number; readonly printed: Map<number, number> } | undefined;

  constructor(own: OwnMessages, printer: Printer) {
    this.#own = own;
    this.#printer = printer;
  }

  handleEvent(event: AgentEvent): void {
    switch (event.type) {
      case 'state_synced':
        this.#handleSynced(event.state, event.messages);
        break;
      case 'message_start':
        if (event.message.role === 'assistant')
          this.#streaming = { timestamp: event.message.timestamp, printed: new Map() };
        break;
      case 'message_update':
        this.#countPrinted(event.assistantMessageEvent);
        break;
      case 'message_end':
        this.#handleMessageEnd(event.message);
        break;
      case 'warning':
        this.#printer.note(`Warning: ${event.message}`);
        break;
      case 'server_error':
        if (this.#sessionId !== undefined) this.#printer.failure(event.error);
        break;
      default:
    }
  }

  /** Prints only new messages of a repeated snapshot. */
  #handleSynced(state: SessionState, messages: readonly AgentMessage[]): void {
    if (state.sessionId !== this.#sessionId) {
      this.#sessionId = state.sessionId;
      this.#latestTimestamp = 0;
      this.#printHeader(state, messages.length);
    }
    const added = this.#newMessages(messages);
    printHistory(
      added.filter((message) => !this.#isOwn(message)).map((message) => this.#unprintedPart(message)),
      this.#printer,
      messages,
    );
    for (const message of added) this.#markPrinted(message);
  }

  /** The messages after the last printed one: by their position too, because clocks of two nodes may differ. */
  #newMessages(messages: readonly AgentMessage[]): readonly AgentMessage[] {
    const last = messages.findLastIndex((message) => this.#printed.has(keyOf(message)));
    return messages.filter(
      ({ timestamp }, index) => timestamp > this.#latestTimestamp || (last !== -1 && index > last),
    );
  }

  #markPrinted(message: AgentMessage): void {
    this.#latestTimestamp = Math.max(this.#latestTimestamp, message.timestamp);
    this.#printed.add(keyOf(message));
  }

  #countPrinted(step: AssistantMessageEvent): void {
    if (!('delta' in step) || !this.#streaming) return;
    const { printed } = this.#streaming;
    printed.set(step.contentIndex, (printed.get(step.contentIndex) ?? 0) + step.delta.length);
  }

  /** The rest of a message that was partly printed while it streamed. */
  #unprintedPart(message: AgentMessage): AgentMessage {
    if (message.role !== 'assistant' || message.timestamp !== this.#streaming?.timestamp) return message;
    const { printed } = this.#streaming;
    return { ...message, content: message.content.map((block, index) => blockAfter(block, printed.get(index) ?? 0)) };
  }

  #handleMessageEnd(message: AgentMessage): void {
    this.#streaming = undefined;
    this.#markPrinted(message);
    if (message.role === 'user' && !this.#isOwn(message)) this.#printer.note(quote(textOfContent(message.content)));
  }

  #isOwn(message: AgentMessage): boolean {
    return message.role === 'user' && this.#own.take(textOfContent(message.content));
  }

  #printHeader({ sessionId, sessionName, cwd, model, messageCount }: SessionState, shown: number): void {
    const name = model ? `${model.provider}/${model.id}` : 'no model';
    this.#printer.note(`${sessionName ?? sessionId} in ${cwd}, with ${name}.`);
    this.#printer.note('Ctrl-C stops an answer, Ctrl-D exits, ? prints help.');
    if (messageCount > shown) this.#printer.note(`… ${messageCount - shown} earlier messages`);
  }
}

const keyOf = ({ role, timestamp }: AgentMessage) => `${role} ${timestamp}`;

function blockAfter(block: AssistantBlock, printed: number): AssistantBlock {
  if (block.type === 'text') return { ...block, text: block.text.slice(printed) };
  return block.type === 'thinking' ? { ...block, thinking: block.thinking.slice(printed) } : block;
}
