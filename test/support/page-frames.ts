import type { Page } from 'playwright-core';
import { messageBox } from './page-hands.ts';

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
  return { sent: fromPage.all, nextFromPage: (fields) => fromPage.next(fields), nextFromServer: (fields) => fromServer.next(fields) };
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
