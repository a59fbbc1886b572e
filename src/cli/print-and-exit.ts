/** Prints the whole output of a command and returns exit code 0 once it is written, or its reader has closed stdout. */
export function printAndExit(text: string): Promise<number> {
  return new Promise((resolve) => {
    process.stdout.on('error', () => resolve(0));
    process.stdout.write(text, () => resolve(0));
  });
}
