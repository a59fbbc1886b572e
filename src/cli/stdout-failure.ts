/** Keeps an eye on stdout; what is answered says, at the end, whether something could not be written. */
export function watchStdout(): () => Promise<NodeJS.ErrnoException | undefined> {
  let failure: NodeJS.ErrnoException | undefined;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that has left has all it wanted.
    if (error.code !== 'EPIPE') failure ??= error;
  });
  return async () => {
    // It is told in the turn after the write.
    await new Promise((resolve) => setImmediate(resolve));
    return failure;
  };
}
