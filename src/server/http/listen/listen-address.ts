import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { withTimeout } from '../../../system/with-timeout.ts';
import { plainAddress } from '../admission/owner-request.ts';

const LOOKUP_LIMIT_MS = 5000;

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

export interface ListenAddressOptions {
  readonly host: string;
  readonly port: number;
  /** Whether traffic is encrypted, by this server or by a proxy in front. */
  readonly isEncrypted: boolean;
}

/**
 * Resolves the address to listen on. Throws a sentence if there is none, or if traffic would be readable on the
 * network.
 */
export async function listenAddress({ host, port, isEncrypted }: ListenAddressOptions): Promise<string> {
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`cannot listen on port ${port}: there is none`);
  const address = await resolveHost(host);
  if (isEncrypted || isLoopback(address)) return address;
  throw new Error(
    `cannot listen on ${host}: others could read along. Give --tls-cert and --tls-key, or --behind-proxy if a proxy encrypts`,
  );
}

function isLoopback(address: string): boolean {
  const plain = plainAddress(address);
  return loopback.check(plain, isIP(plain) === 4 ? 'ipv4' : 'ipv6');
}

async function resolveHost(host: string): Promise<string> {
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  if (isIP(bare) !== 0) return bare;
  try {
    return (await withTimeout(LOOKUP_LIMIT_MS, lookup(bare), 'too late')).address;
  } catch {
    throw new Error(`cannot listen on ${host}: there is no such host`);
  }
}

/** The error of `listen` as a sentence. */
export function listenError(
  error: NodeJS.ErrnoException,
  { host, port }: Pick<ListenAddressOptions, 'host' | 'port'>,
): Error {
  const reasons: Record<string, string> = {
    EADDRINUSE: 'it is in use. Choose another with --port, or any with --port 0',
    EACCES: 'the system does not allow it. Choose a port above 1023 with --port',
    EADDRNOTAVAIL: 'this machine does not have that address',
  };
  const shownHost = isIP(host) === 6 ? `[${host}]` : host;
  return new Error(`cannot listen on ${shownHost}:${port}: ${reasons[error.code ?? ''] ?? error.message}`);
}
