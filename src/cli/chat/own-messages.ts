/** What was sent from this terminal and has not come back as a part of the conversation: it is on the screen already. */
export class OwnMessages {
  #texts: readonly string[] = [];

  add(text: string): void {
    this.#texts = [...this.#texts, text];
  }

  /** It was refused, or no message came of it. */
  drop(text: string): void {
    this.#without(this.#texts.indexOf(text));
  }

  /** Whether a message of the conversation is one of these. What a slash command became has other words. */
  take(text: string): boolean {
    const same = this.#texts.indexOf(text);
    const at = same === -1 ? this.#texts.findIndex((own) => own.startsWith('/')) : same;
    this.#without(at);
    return at !== -1;
  }

  #without(at: number): void {
    this.#texts = this.#texts.filter((_, index) => index !== at);
  }
}
