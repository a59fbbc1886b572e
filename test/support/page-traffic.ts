import type { Page } from 'playwright-core';

/** Intercepts the socket of a page; frames from the server can be held or rewritten. */
export class Traffic {
  readonly sent: string[] = [];
  readonly #delayed: (() => void)[] = [];
  readonly #expected: { readonly text: string; readonly onFrame: () => void }[] = [];
  #heldText: string | undefined;
  #replacement: readonly [string, string] | undefined;

  /** Intercepts the sockets of all documents that this page loads from now on. */
  async watch(page: Page): Promise<void> {
    await page.routeWebSocket(/./, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((message) => {
        this.sent.push(String(message));
        server.send(message);
      });
      server.onMessage((message) => {
        const text = this.#replacement ? String(message).replace(...this.#replacement) : String(message);
        const pass = () => socket.send(text);
        if (this.#heldText !== undefined && text.includes(this.#heldText)) this.#delayed.push(pass);
        else pass();
        for (const expected of this.#expected) if (text.includes(expected.text)) expected.onFrame();
      });
    });
  }

  /** Settles when the next frame with this text arrives from the server. */
  waitForFrame(text: string): Promise<void> {
    return new Promise((resolve) => this.#expected.push({ text, onFrame: resolve }));
  }

  /** Replaces this text in all further frames from the server. */
  replaceText(text: string, into: string): void {
    this.#replacement = [text, into];
  }

  /** Holds all frames from the server that contain this text. */
  hold(text: string): void {
    this.#heldText = text;
  }

  release(): void {
    this.#heldText = undefined;
    for (const pass of this.#delayed.splice(0)) pass();
  }
}
