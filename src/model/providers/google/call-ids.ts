import type { ModelMessage } from '../../request.ts';

/** Gives every tool call an id that is unique in the conversation; the server often sends none. */
export class ToolCallIds {
  readonly #taken: Set<string>;
  #count = 0;

  constructor(messages: readonly ModelMessage[]) {
    this.#taken = new Set(messages.flatMap(idsIn));
  }

  /** The server's id if it is free, else one made from the index of the call. */
  next(given: string | undefined, responseId: string | undefined): string {
    this.#count += 1;
    const preferred = given || `${responseId ?? 'call'}_${this.#count}`;
    let id = preferred;
    for (let copy = 2; this.#taken.has(id); copy += 1) id = `${preferred}_${copy}`;
    this.#taken.add(id);
    return id;
  }
}

const idsIn = (message: ModelMessage): string[] =>
  message.role === 'assistant' ? message.content.flatMap((block) => (block.type === 'toolCall' ? [block.id] : [])) : [];
