/** Watches stdout; the returned function reports at the end whether a write failed. */
export function watchStdout(): () => Promise<NodeJS.ErrnoException | undefined> {
  let failure: NodeJS.ErrnoException | undefined;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that closes stdout is not an error.
    if (error.code !== 'EPIPE') failure ??= error;
  });
  return async () => {
    // Errors are emitted in the turn after the write.
    await new Promise((resolve) => setImmediate(resolve));
    return failure;
  };
}
