import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { confinedEnvironment, withoutProxies } from './environment.ts';
import { proxyVariables } from './network/cell-network.ts';
import { serveProxy } from './network/proxy.ts';
import { hiddenPaths, type WritableRoots, writableRoots } from './roots.ts';
import type { Sandbox, SandboxLaunch, SandboxOptions } from './sandbox.ts';
import { makeSessionFiles } from './session-files.ts';

const SANDBOX_EXEC = '/usr/bin/sandbox-exec';

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
    const kept = confinedEnvironment(env, options.env, files.tmp);
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

interface ProfileOptions {
  readonly sandbox: SandboxOptions;
  readonly writable: WritableRoots;
  /** The private folder of the session, by real path. */
  readonly tmp: string;
  /** The proxy of the session on this machine's loopback. */
  readonly proxyPort: number | undefined;
}

/**
 * A profile for `sandbox-exec`. Untested: it needs a Mac.
 *
 * Everything is denied first; later rules win. A process that leaves its group is not found when its command is killed.
 */
function seatbeltProfile({ sandbox, writable, tmp, proxyPort }: ProfileOptions): string {
  const projects = writable.projects.flatMap((path) => [join(path, '.git'), join(path, '.pi')]);
  // A parent that could be renamed would take its protection with it.
  const pinned = [...writable.roots, ...writable.pins.map(({ path }) => path)];
  const hidden = hiddenPaths(sandbox);
  return [
    '(version 1)',
    '(deny default)',
    '(allow process-exec process-fork process-info* signal (target same-sandbox))',
    '(allow sysctl-read)',
    '(allow ipc-posix-sem ipc-posix-shm)',
    '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
    '(allow file-read* file-test-existence)',
    '(allow file-write-data (literal "/dev/null") (literal "/dev/tty") (literal "/dev/zero"))',
    ...rules('allow file-write*', [tmp, ...writable.roots]),
    ...rules('deny file-write*', projects),
    ...pinned.map((path) => `(deny file-write-unlink (literal ${quoted(path)}))`),
    ...rules('deny file-read* file-write*', hidden),
    ...networkRules(sandbox, proxyPort),
  ].join('\n');
}

const rules = (what: string, paths: readonly string[]) => paths.map((path) => `(${what} (subpath ${quoted(path)}))`);

function networkRules({ network, unixSockets }: SandboxOptions, proxyPort: number | undefined): string[] {
  const unix = unixSockets ? ['(allow network* (local unix-socket) (remote unix-socket))'] : [];
  if (network === 'open') return ['(allow network* (local ip) (remote ip))', ...unix];
  return proxyPort === undefined ? unix : [`(allow network-outbound (remote ip "localhost:${proxyPort}"))`, ...unix];
}

const quoted = (path: string) => `"${path.replace(/["\\]/g, '\\$&')}"`;
