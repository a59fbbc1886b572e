const endProcess: typeof process.exit = process.exit.bind(process);

/** Ends the process at once, also while a handler of `onExitCall` is set. */
export function exitNow(code: number): never {
  endProcess(code);
}

/** Thrown by `process.exit` after it has started the end of the process, so that its caller does not continue. */
export class ExitCalled extends Error {
  override readonly name = 'ExitCalled';
}

/**
 * From now on `process.exit` calls the handler, throws `ExitCalled`, and ends the process with the given code when the
 * handler is finished. A second call ends the process at once.
 */
export function onExitCall(handler: (code: number, message: string) => Promise<void>): void {
  let isExiting = false;
  process.exit = (given) => {
    const code = exitCodeOf(given ?? process.exitCode);
    if (isExiting) endProcess(code);
    isExiting = true;
    const message = `process.exit(${given ?? ''}) was called`;
    void handler(code, message).finally(() => endProcess(code));
    throw new ExitCalled(message);
  };
  process.getBuiltinModule('node:module').syncBuiltinESMExports();
}

const exitCodeOf = (code: number | string | null | undefined) => Number(code ?? 0) & 0xff;
