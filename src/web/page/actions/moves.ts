import type { App } from '../state/app.ts';

/** Begins another session with what was said before a message of the user: the one that so many others with text come after. */
export async function fork(_app: App, _from: { readonly userMessagesAfter: number }): Promise<void> {}
