/** Whoever reads stdout. They may leave, as `head` does: then everything stops, without a word. */
export function watchStdoutReader(): { readonly done: Promise<void>; flushed(): Promise<void> } {
  const done = new Promise<void>((resolve) => process.stdout.on('error', () => resolve()));
  const flushed = () => Promise.race([new Promise<void>((resolve) => process.stdout.write('', () => resolve())), done]);
  return { done, flushed };
}
