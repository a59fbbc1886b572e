/** Prints a text that is all there is to say, and answers the exit code. A reader that has left is no failure. */
export function say(text: string): number {
  process.stdout.on('error', () => {});
  process.stdout.write(text);
  return 0;
}
