import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** An address of the host's loopback that programs do not exempt from proxies. */
export const LOOPBACK_HOST = '127.0.0.2';

/** A server of the host, which stands for one on the internet. */
export interface LoopbackHost {
  readonly port: number;
  /** Without a slash at the end. */
  readonly url: string;
  /** Method and path of each request, in order. */
  readonly requests: () => readonly string[];
}

export interface LoopbackOptions {
  /** The content of paths; others are not found. */
  readonly files?: Readonly<Record<string, string | Buffer>>;
  /** With a certificate that no program trusts by itself. */
  readonly tls?: boolean;
}

/** Serves files on the loopback of the host until the test ends. */
export async function startLoopbackHost({ files = {}, tls = false }: LoopbackOptions = {}): Promise<LoopbackHost> {
  const requests: string[] = [];
  const respond: RequestListener = ({ method, url = '' }, response) => {
    requests.push(`${method} ${url}`);
    const content = files[url.replace(/\?.*/, '')];
    response.writeHead(content === undefined ? 404 : 200, { connection: 'close' }).end(content);
  };
  const server: Server = tls ? createTlsServer(certificate(), respond) : createServer(respond);
  await new Promise<void>((listening) => void server.listen(0, LOOPBACK_HOST, listening));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { port, url: `${tls ? 'https' : 'http'}://${LOOPBACK_HOST}:${port}`, requests: () => requests };
}

const certificate = () => ({ cert: fixture('cert'), key: fixture('key') });

const fixture = (name: string) => readFileSync(join(import.meta.dirname, `../../fixtures/tls/${name}.pem`));
