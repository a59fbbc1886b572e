import { closeSync } from 'node:fs';
import { defaultShell } from '../../../../agent/tools/bash/shell.ts';
import { openPipe } from '../../../../system/processes/pipe.ts';
import { PipeReader } from '../../../../system/processes/pipe-reader.ts';
import { spawnGroup } from '../../../../system/processes/process-group.ts';
import { clampTimeout } from '../../../../system/with-timeout.ts';
import type { BashExecOptions, BashOperations } from '../../api/bash-backend.ts';
import type { ExtensionEnvironment } from '../extension-environment.ts';

/** A bash backend on this machine, for extensions that only change the commands. */
export const localBashOperations = (
  shell: ExtensionEnvironment['shell'],
  { shellPath = shell().shellPath }: { shellPath?: string | undefined } = {},
): BashOperations => ({
  exec: async (command, cwd, options) => {
    const pipe = await openPipe();
    let failure: unknown;
    const reader = new PipeReader(pipe.read, (bytes) => {
      try {
        options.onData(Buffer.from(bytes));
      } catch (error) {
        failure ??= error;
      }
    });
    const { env: defaultEnv, family } = shell();
    const env = options.env ?? defaultEnv;
    const output = pipe.write;
    const child = spawnGroup({ command: shellPath ?? defaultShell(), args: ['-c', command], cwd, env, output, family });
    closeSync(pipe.write);
    const stopped = await whenStopped(options, () => child.kill(), child.exited);
    const { code, error } = await child.exited;
    if (stopped !== undefined) await child.kill();
    reader.drain();
    reader.redirectTo(undefined);
    if (stopped !== undefined) throw new Error(stopped);
    if (error) throw error;
    if (failure) throw failure;
    return { exitCode: code };
  },
});

// Resolves after the command has ended, with the reason if it was stopped.
async function whenStopped(
  { signal, timeout = 0 }: BashExecOptions,
  kill: () => Promise<void>,
  ended: Promise<unknown>,
): Promise<string | undefined> {
  let reason: string | undefined;
  const stop = (why: string) => {
    reason ??= why;
    void kill();
  };
  const abort = () => stop('aborted');
  const expire = () => stop(`timeout:${timeout}`);
  const timer = timeout > 0 ? setTimeout(expire, clampTimeout(timeout * 1000)) : undefined;
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort, { once: true });
  await ended;
  clearTimeout(timer);
  signal?.removeEventListener('abort', abort);
  return reason;
}
