/** Prints a text that is all there is to say, and answers the exit code once it is out. A reader that left is no failure. */
export function printAndExit(text: string): Promise<number> {
  return new Promise((resolve) => {
    process.stdout.on('error', () => resolve(0));
    process.stdout.write(text, () => resolve(0));
  });
}
