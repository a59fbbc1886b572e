import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { splitAddresses } from '../../client/remote/remote-url.ts';
import { messageOf } from '../../protocol/errors.ts';
import { takeEnvToken } from '../../server/auth/env-token.ts';
import { basePathFrom } from '../../server/http/admission/base-path.ts';
import { warn } from '../../system/terminal-text.ts';
import { type CliArguments, UsageError } from '../flags/flags.ts';

/** The addresses of a server, or of nodes of a cluster, and the token for it. */
export interface ServerAddress {
  /** WebSocket URLs without a token, in the order in which they are tried; `ws+unix:` for a socket file. */
  readonly urls: readonly [URL, ...URL[]];
  readonly token: string | undefined;
}

/** Whether this is a socket file of this machine. */
export const isLocal = ({ urls }: ServerAddress): boolean => urls[0].protocol === 'ws+unix:';

export const isAddress = (word: string | undefined) => word !== undefined && /^(?:wss?|https?):\/\//i.test(word);

/** The server that the command line selects. Error messages never contain a token. */
export function serverAddress(args: CliArguments, given: string | undefined): ServerAddress {
  const { socket } = args;
  const address = given ?? args.url;
  if (given !== undefined && args.url !== undefined) throw new UsageError('Give one address: --url or an argument');
  if (socket !== undefined && address !== undefined) throw new UsageError('--socket and a URL contradict each other');
  if (socket !== undefined) return { urls: [socketUrl(resolve(socket), args['base-path'] ?? '')], token: undefined };
  if (address !== undefined) return remoteAddress(address, args);
  throw new UsageError(
    'Which server? Start one with tau serve --socket <path>, then run tau attach --socket <path>; or give its ws:// URL',
  );
}

function socketUrl(path: string, basePath: string): URL {
  const file = pathToFileURL(path).pathname.replaceAll(':', '%3A');
  try {
    return new URL(`ws+unix:${file}:${basePathFrom(basePath)}/session`);
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

function remoteAddress(address: string, args: CliArguments): ServerAddress {
  if (args['base-path'] !== undefined) throw new UsageError('A URL contains its base path: leave --base-path out');
  const [first, ...others] = splitAddresses(address).map(remoteUrl);
  if (!first) throw noUrl();
  const inUrl = [first, ...others].map(({ token }) => token).find((token) => token !== undefined);
  if (inUrl !== undefined)
    warn('A token in a URL is seen by everyone who sees this command: use --token-file or PI_AUTH_TOKEN');
  return { urls: [first.url, ...others.map(({ url }) => url)], token: tokenFrom(args) ?? inUrl };
}

function remoteUrl(address: string): { readonly url: URL; readonly token: string | undefined } {
  const url = isAddress(address) && URL.canParse(address) ? new URL(address) : undefined;
  if (!url || url.hostname.includes(',')) throw noUrl();
  url.protocol = url.protocol.replace('http', 'ws');
  const token = url.searchParams.get('token') ?? undefined;
  url.search = '';
  url.hash = '';
  url.pathname = `${url.pathname.replace(/(?:\/session)?\/*$/, '')}/session`;
  return { url, token };
}

const noUrl = () => new UsageError('The URL of a server begins with ws:// or wss://');

function tokenFrom(args: CliArguments): string | undefined {
  const inEnvironment = takeEnvToken(process.env);
  const path = args['token-file'];
  if (path === undefined) return inEnvironment;
  let token: string;
  try {
    token = readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new UsageError(`--token-file: ${messageOf(error)}`);
  }
  if (token === '') throw new UsageError(`--token-file: ${path} is empty`);
  return token;
}
