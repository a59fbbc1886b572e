import type { Page } from 'playwright-core';
import { messageBox } from './page-actions.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever is said
type Frame = Record<string, any>;

/** The frames that a page and the server send. */
export interface Frames {
  readonly sent: readonly Frame[];
  /** Returns the next unclaimed frame from the server with these fields. */
  readonly nextFromServer: (fields: Frame) => Promise<Frame>;
  /** Returns the next unclaimed frame from the page with these fields. */
  readonly nextFromPage: (fields: Frame) => Promise<Frame>;
}

/** Watches the socket of a page, which is reloaded for it. */
export async function watchFrames(page: Page): Promise<Frames> {
  // A login link works once: a reload before the login completes could lose it.
  await messageBox(page).waitFor();
  const [fromPage, fromServer] = [new FrameLog(), new FrameLog()];
  page.on('websocket', (socket) => {
    socket.on('framesent', ({ payload }) => fromPage.receive(String(payload)));
    socket.on('framereceived', ({ payload }) => fromServer.receive(String(payload)));
  });
  await page.reload();
  await fromServer.next({ type: 'state_synced' });
  return {
    sent: fromPage.all,
    nextFromPage: (fields) => fromPage.next(fields),
    nextFromServer: (fields) => fromServer.next(fields),
  };
}

class FrameLog {
  readonly all: Frame[] = [];
  readonly #taken = new Set<Frame>();
  readonly #waiting = new Set<() => void>();

  receive(text: string): void {
    this.all.push(JSON.parse(text));
    for (const check of [...this.#waiting]) check();
  }

  next(fields: Frame): Promise<Frame> {
    return new Promise((resolve) => {
      const check = () => {
        const found = this.all.find((frame) => !this.#taken.has(frame) && matches(frame, fields));
        if (!found) return;
        this.#taken.add(found);
        this.#waiting.delete(check);
        resolve(found);
      };
      this.#waiting.add(check);
      check();
    });
  }
}

const matches = (frame: Frame, fields: Frame) => Object.entries(fields).every(([name, value]) => frame[name] === value);

/** Intercepts the socket of a page; frames from the server can be held or rewritten. */
export class Traffic {
  readonly sent: string[] = [];
  readonly #delayed: (() => void)[] = [];
  readonly #expected: { readonly text: string; readonly onFrame: () => void }[] = [];
  #heldText: string | undefined;
  #holdsLaterFrames = false;
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
        const isBehindHeld = this.#holdsLaterFrames && this.#delayed.length > 0;
        if (isBehindHeld || (this.#heldText !== undefined && text.includes(this.#heldText))) this.#delayed.push(pass);
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

  /** Holds the next frame from the server with this text and all after it. */
  holdFrom(text: string): void {
    this.#heldText = text;
    this.#holdsLaterFrames = true;
  }

  release(): void {
    this.#heldText = undefined;
    this.#holdsLaterFrames = false;
    for (const pass of this.#delayed.splice(0)) pass();
  }
}
