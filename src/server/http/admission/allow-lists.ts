import type { IncomingMessage } from 'node:http';
import { defaultPort, type HostName, inBrackets, parseHost, parseOrigin } from './origins.ts';
import { plainAddress } from './owner-request.ts';

export interface AllowListOptions {
  /** The host that the server listens on. */
  readonly host: string;
  readonly isTls: boolean;
  /** Further names of this server, with a port or for any port. */
  readonly allowHosts: readonly string[];
  readonly allowOrigins: readonly string[];
}

/** A Host or Origin header that is not allowed. */
export interface ForeignHeader {
  readonly header: 'host' | 'origin';
  readonly value: string;
  /** The flag that would allow it, if any. */
  readonly hint: string | undefined;
}

const OWN_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/** The allowed Host and Origin headers. */
export class AllowLists {
  readonly #options: AllowListOptions;
  readonly #hosts: readonly HostName[];
  readonly #origins: ReadonlySet<string>;

  /** Throws a sentence if a flag value is invalid. */
  constructor(options: AllowListOptions) {
    const { allowHosts, allowOrigins } = options;
    this.#options = options;
    this.#hosts = allowHosts.map((text) =>
      parseFlag(parseHost, text, '--allow-host takes a name like tau.example.org'),
    );
    this.#origins = new Set(
      allowOrigins.map((text) => parseFlag(parseOrigin, text, '--allow-origin takes one like https://tau.example.org')),
    );
  }

  /** The header of a request that is not allowed, if any. */
  findForeign(request: IncomingMessage, { isSecure }: { readonly isSecure: boolean }): ForeignHeader | undefined {
    const hosts = request.headersDistinct['host'] ?? [];
    const host = hosts[0] === undefined || hosts.length > 1 ? undefined : parseHost(hosts[0]);
    if (!host || !this.#isOwnHost(host, request)) {
      return { header: 'host', value: hosts.join(' '), hint: host && `--allow-host ${hosts[0]}` };
    }
    const { origin } = request.headers;
    if (origin === undefined) return undefined;
    const from = parseOrigin(origin);
    const own = parseOrigin(`${isSecure ? 'https' : 'http'}://${hosts[0]}`);
    if (from !== undefined && (from === own || this.#origins.has(from))) return undefined;
    return { header: 'origin', value: origin, hint: from && `--allow-origin ${from}` };
  }

  #isOwnHost({ name, port }: HostName, { socket }: IncomingMessage): boolean {
    const { host, isTls } = this.#options;
    if (this.#hosts.some((allowed) => allowed.name === name && (allowed.port ?? port) === port)) return true;
    // DNS rebinding cannot forge the address itself: the client has connected to it.
    const names = [...OWN_NAMES, inBrackets(host.toLowerCase()), inBrackets(plainAddress(socket.localAddress ?? ''))];
    return names.includes(name) && (port ?? defaultPort(isTls)) === socket.localPort;
  }
}

function parseFlag<T>(parse: (text: string) => T | undefined, text: string, sentence: string): T {
  const value = parse(text);
  if (value === undefined) throw new Error(`${sentence}, not ${JSON.stringify(text)}`);
  return value;
}
