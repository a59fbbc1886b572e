import { terminalText } from './terminal-text.ts';

type UncaughtErrorHandler = (error: unknown) => boolean;

const handlers = new Set<UncaughtErrorHandler>();

/**
 * Calls the handler before an uncaught error ends the process; a handler that returns true keeps it alive. The returned
 * function removes the handler.
 */
export function onUncaughtError(handler: UncaughtErrorHandler): () => void {
  if (handlers.size === 0) for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, handle);
  handlers.add(handler);
  return () => {
    handlers.delete(handler);
    if (handlers.size === 0)
      for (const event of ['uncaughtException', 'unhandledRejection']) process.off(event, handle);
  };
}

function handle(error: unknown): void {
  if ([...handlers].some((handler) => handler(error))) return;
  process.stderr.write(`${terminalText(error instanceof Error ? (error.stack ?? error.message) : String(error))}\n`);
  process.exit(1);
}
