/** The messages sent from this terminal that are on screen already and not yet part of the conversation. */
export class OwnMessages {
  #texts: readonly string[] = [];

  add(text: string): void {
    this.#texts = [...this.#texts, text];
  }

  /** The message was rejected, or handled without becoming a message. */
  drop(text: string): void {
    this.#without(this.#texts.indexOf(text));
  }

  /** Whether a message of the conversation was sent from here. A slash command matches the text that it expanded to. */
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
