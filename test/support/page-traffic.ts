import type { Page } from 'playwright-core';

/** What goes over the socket of a page. What comes to it can be held back. */
export class Traffic {
  readonly sent: string[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #wishes: { readonly text: string; readonly heard: () => void }[] = [];
  #held: string | undefined;
  #changed: readonly [string, string] | undefined;

  /** Of the pages that are loaded from now on. */
  async watch(page: Page): Promise<void> {
    await page.routeWebSocket(/./, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((message) => {
        this.sent.push(String(message));
        server.send(message);
      });
      server.onMessage((message) => {
        const text = this.#changed ? String(message).replace(...this.#changed) : String(message);
        const pass = () => socket.send(text);
        if (this.#held !== undefined && text.includes(this.#held)) this.#waiting.push(pass);
        else pass();
        for (const wish of this.#wishes) if (text.includes(wish.text)) wish.heard();
      });
    });
  }

  /** Settles when something with this text has come next. */
  heard(text: string): Promise<void> {
    return new Promise((heard) => this.#wishes.push({ text, heard }));
  }

  /** From now on says something else in the place of this. */
  change(text: string, into: string): void {
    this.#changed = [text, into];
  }

  /** Holds back whatever has this text in it. */
  hold(text: string): void {
    this.#held = text;
  }

  release(): void {
    this.#held = undefined;
    for (const pass of this.#waiting.splice(0)) pass();
  }
}
