import { ExitCalled, exitNow } from './exit-call.ts';
import { terminalText } from './terminal-text.ts';

type UncaughtErrorHandler = (error: unknown) => boolean;

const handlers = new Set<UncaughtErrorHandler>();

let beforeExit: ((error: unknown) => Promise<void>) | undefined;
let isEnding = false;

/**
 * Calls the handler before an uncaught error ends the process; a handler that returns true keeps it alive. The returned
 * function removes the handler.
 */
export function onUncaughtError(handler: UncaughtErrorHandler): () => void {
  if (!isListening()) listen();
  handlers.add(handler);
  return () => {
    handlers.delete(handler);
    if (!isListening()) for (const event of EVENTS) process.off(event, handle);
  };
}

/** Calls the handler when an uncaught error ends the process, which then waits for it. */
export function onFatalError(handler: (error: unknown) => Promise<void>): void {
  if (!isListening()) listen();
  beforeExit = handler;
}

const EVENTS = ['uncaughtException', 'unhandledRejection'];

const isListening = () => handlers.size > 0 || beforeExit !== undefined;

function listen(): void {
  for (const event of EVENTS) process.on(event, handle);
}

function handle(error: unknown): void {
  if (error instanceof ExitCalled || [...handlers].some((handler) => handler(error))) return;
  process.stderr.write(`${terminalText(error instanceof Error ? (error.stack ?? error.message) : String(error))}\n`);
  // A second error during the end does not delay it further.
  if (!beforeExit || isEnding) exitNow(1);
  isEnding = true;
  void beforeExit(error).finally(() => exitNow(1));
}
