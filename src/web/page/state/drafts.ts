import { type Signal, signal } from '@preact/signals';

/** What was written in each session and not sent. */
export class Drafts {
  readonly #texts = new Map<string, Signal<string>>();

  of(sessionId: string): Signal<string> {
    const known = this.#texts.get(sessionId);
    if (known) return known;
    const text = signal('');
    this.#texts.set(sessionId, text);
    return text;
  }
}
