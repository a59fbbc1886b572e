import type {
  AgentEvent,
  AgentMessage,
  AssistantBlock,
  AssistantMessageEvent,
  SessionState,
} from '../../protocol/generated/vocabulary.ts';
import type { OwnMessages } from './own-messages.ts';
import type { Printer } from './printer.ts';
import { quote, retell, wordsIn } from './retell.ts';

/** Tells of a session what the printer does not: its beginning, what was said before, and what others say. */
export class Retelling {
  readonly #own: OwnMessages;
  readonly #printer: Printer;
  #sessionId: string | undefined;
  /** When the last message was said that was told. */
  #latest = 0;
  /** The answer that streams, and how many characters of each of its blocks were told. */
  #streaming: { readonly timestamp: number; readonly told: Map<number, number> } | undefined;

  constructor(own: OwnMessages, printer: Printer) {
    this.#own = own;
    this.#printer = printer;
  }

  hear(event: AgentEvent): void {
    switch (event.type) {
      case 'state_synced':
        this.#synced(event.state, event.messages);
        break;
      case 'message_start':
        if (event.message.role === 'assistant')
          this.#streaming = { timestamp: event.message.timestamp, told: new Map() };
        break;
      case 'message_update':
        this.#grew(event.assistantMessageEvent);
        break;
      case 'message_end':
        this.#said(event.message);
        break;
      case 'server_error':
        if (this.#sessionId !== undefined) this.#printer.failure(event.error);
        break;
      default:
    }
  }

  /** Of a snapshot that is not the first, only what is new is told. */
  #synced(state: SessionState, messages: readonly AgentMessage[]): void {
    if (state.sessionId !== this.#sessionId) {
      this.#sessionId = state.sessionId;
      this.#latest = 0;
      this.#greet(state, messages.length);
    }
    const news = messages.filter(({ timestamp }) => timestamp > this.#latest);
    retell(
      news.filter((message) => !this.#isOwn(message)).map((message) => this.#untold(message)),
      this.#printer,
      messages,
    );
    for (const { timestamp } of news) this.#latest = Math.max(this.#latest, timestamp);
  }

  #grew(step: AssistantMessageEvent): void {
    if (!('delta' in step) || !this.#streaming) return;
    const { told } = this.#streaming;
    told.set(step.contentIndex, (told.get(step.contentIndex) ?? 0) + step.delta.length);
  }

  /** What is new of a message whose beginning was told while it streamed. */
  #untold(message: AgentMessage): AgentMessage {
    if (message.role !== 'assistant' || message.timestamp !== this.#streaming?.timestamp) return message;
    const { told } = this.#streaming;
    return { ...message, content: message.content.map((block, index) => rest(block, told.get(index) ?? 0)) };
  }

  #said(message: AgentMessage): void {
    this.#streaming = undefined;
    this.#latest = Math.max(this.#latest, message.timestamp);
    if (message.role === 'user' && !this.#isOwn(message)) this.#printer.note(quote(wordsIn(message.content)));
  }

  #isOwn(message: AgentMessage): boolean {
    return message.role === 'user' && this.#own.take(wordsIn(message.content));
  }

  #greet({ sessionId, sessionName, cwd, model, messageCount }: SessionState, shown: number): void {
    const name = model ? `${model.provider}/${model.id}` : 'no model';
    this.#printer.note(`${sessionName ?? sessionId} in ${cwd}, with ${name}.`);
    this.#printer.note('Ctrl-C stops an answer, Ctrl-D leaves, ? helps.');
    if (messageCount > shown) this.#printer.note(`… ${messageCount - shown} earlier messages`);
  }
}

function rest(block: AssistantBlock, told: number): AssistantBlock {
  if (block.type === 'text') return { ...block, text: block.text.slice(told) };
  return block.type === 'thinking' ? { ...block, thinking: block.thinking.slice(told) } : block;
}
