import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { confinedEnvironment, withoutProxies } from './environment.ts';
import { proxyVariables } from './network.ts';
import { serveProxy } from './proxy.ts';
import { writableRoots } from './roots.ts';
import type { Sandbox, SandboxLaunch, SandboxOptions } from './sandbox.ts';
import { SANDBOX_EXEC, seatbeltProfile } from './seatbelt.ts';
import { makeSessionFiles } from './session-files.ts';

/** The sandbox of macOS. Untested: it needs a Mac. `/tmp` is that of the machine there, and read-only. */
export async function createSeatbeltSandbox(options: SandboxOptions): Promise<Sandbox> {
  const files = makeSessionFiles(Buffer.alloc(0));
  const listener = options.network === 'ask' ? createServer().listen(0, '127.0.0.1') : undefined;
  if (listener) await once(listener, 'listening');
  const port = listener && (listener.address() as AddressInfo).port;
  const proxy = listener && serveProxy(listener, options);
  const profile = seatbeltProfile({
    sandbox: options,
    writable: writableRoots(options),
    tmp: files.tmp,
    proxyPort: port,
  });
  const confine = async ({ command, args, cwd, env }: SandboxLaunch): Promise<SandboxLaunch> => {
    const kept = { ...confinedEnvironment(env, options.env), TMPDIR: files.tmp, TMP: files.tmp, TEMP: files.tmp };
    const reaching = options.network === 'open' ? kept : withoutProxies(kept);
    return {
      command: SANDBOX_EXEC,
      args: ['-p', profile, command, ...args],
      cwd,
      env: port === undefined ? reaching : { ...reaching, ...proxyVariables(port) },
    };
  };
  const close = async () => {
    await proxy?.close();
    await files.remove();
  };
  return { engine: 'seatbelt', tmp: files.tmp, confine, close };
}
