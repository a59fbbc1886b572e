/**
 * Lets somebody look at what nobody caught before it ends the process. Where they know whose it is, and that it hurts
 * nobody else, they answer true, and the process lives on.
 */
export function onStrayError(isDealtWith: (error: unknown) => boolean): void {
  const listener = (error: unknown) => {
    if (isDealtWith(error)) return;
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  };
  process.on('uncaughtException', listener);
  process.on('unhandledRejection', listener);
}
