/** Watches the reader of stdout: `done` resolves when it closes stdout, as `head` does. */
export function watchStdoutReader(): { readonly done: Promise<void>; flushed(): Promise<void> } {
  const done = new Promise<void>((resolve) => process.stdout.on('error', () => resolve()));
  const flushed = () => Promise.race([new Promise<void>((resolve) => process.stdout.write('', () => resolve())), done]);
  return { done, flushed };
}
