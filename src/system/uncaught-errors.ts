type UncaughtErrorHandler = (error: unknown) => boolean;

const handlers = new Set<UncaughtErrorHandler>();

/**
 * Lets somebody look at what nobody caught before it ends the process. Where they know whose it is, and that it hurts
 * nobody else, they answer true, and the process lives on. The returned function ends that.
 */
export function onUncaughtError(handler: UncaughtErrorHandler): () => void {
  if (handlers.size === 0) for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, handle);
  handlers.add(handler);
  return () => {
    handlers.delete(handler);
    if (handlers.size === 0) for (const event of ['uncaughtException', 'unhandledRejection']) process.off(event, handle);
  };
}

function handle(error: unknown): void {
  if ([...handlers].some((handler) => handler(error))) return;
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(1);
}
