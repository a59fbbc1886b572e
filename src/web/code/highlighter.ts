import { signal } from '@preact/signals';
import type { Highlight } from './token.ts';

const loaded = signal<Highlight | undefined>(undefined);
let isAskedFor = false;

/** What colours code; undefined until it is loaded, which it is when it is asked for the first time. */
export function highlighter(): Highlight | undefined {
  if (!isAskedFor) void load();
  return loaded.value;
}

/** Without it code stays in one colour, and what is shown next asks again. */
async function load(): Promise<void> {
  isAskedFor = true;
  try {
    const { highlight } = await import('./grammars.ts');
    loaded.value = highlight;
  } catch {
    isAskedFor = false;
  }
}
