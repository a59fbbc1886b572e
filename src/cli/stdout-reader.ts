/** Whoever reads stdout. They may leave, as `head` does: then everything stops, without a word. */
export function stdoutReader(): { readonly left: Promise<void>; flushed(): Promise<void> } {
  const left = new Promise<void>((resolve) => process.stdout.on('error', () => resolve()));
  const flushed = () => Promise.race([new Promise<void>((resolve) => process.stdout.write('', () => resolve())), left]);
  return { left, flushed };
}
