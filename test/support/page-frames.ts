import type { Page } from 'playwright-core';
import { box } from './page-hands.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever is said
type Said = Record<string, any>;

/** What a page and the server say to each other. */
export interface Frames {
  readonly sent: readonly Said[];
  /** The next thing with these fields that the server says, or has said and was not asked for. */
  readonly heard: (fields: Said) => Promise<Said>;
  /** The same for what the page says. */
  readonly said: (fields: Said) => Promise<Said>;
}

/** Listens to the socket of a page. It is loaded again for that. */
export async function framesOf(page: Page): Promise<Frames> {
  // Whoever has not logged in yet may lose the way in: a link lets in once.
  await box(page).waitFor();
  const [fromPage, fromServer] = [new Side(), new Side()];
  page.on('websocket', (socket) => {
    socket.on('framesent', ({ payload }) => fromPage.hear(String(payload)));
    socket.on('framereceived', ({ payload }) => fromServer.hear(String(payload)));
  });
  await page.reload();
  await fromServer.next({ type: 'state_synced' });
  return { sent: fromPage.all, said: (fields) => fromPage.next(fields), heard: (fields) => fromServer.next(fields) };
}

class Side {
  readonly all: Said[] = [];
  readonly #taken = new Set<Said>();
  readonly #waiting = new Set<() => void>();

  hear(text: string): void {
    this.all.push(JSON.parse(text));
    for (const look of [...this.#waiting]) look();
  }

  next(fields: Said): Promise<Said> {
    return new Promise((resolve) => {
      const look = () => {
        const found = this.all.find((said) => !this.#taken.has(said) && fits(said, fields));
        if (!found) return;
        this.#taken.add(found);
        this.#waiting.delete(look);
        resolve(found);
      };
      this.#waiting.add(look);
      look();
    });
  }
}

const fits = (said: Said, fields: Said) => Object.entries(fields).every(([name, value]) => said[name] === value);
