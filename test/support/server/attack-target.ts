import { spawn } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import {
  type ReceivedResponse,
  type RequestParams,
  sendRequest,
} from '../../../src/server/http/testing/raw-clients.ts';
import { environment, type Home, newGate, newHome, scriptArgs, TAU } from '../agent/test-agent.ts';
import type { WireRecord } from '../clients/peer.ts';
import { type ExitResult, runTau } from '../processes/program.ts';
import { assertValid } from '../protocol/wire-log.ts';

/** The owner's token of every target. */
export const TARGET_TOKEN = 'the-owners-own-token-0123456789';

export interface TargetOptions {
  readonly home?: Home;
  /** Further arguments after `serve`. */
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  /** Responses of every agent's scripted model. */
  readonly script?: readonly object[] | undefined;
  /** Further arguments of every agent. */
  readonly agentArgs?: readonly string[];
  readonly port?: number;
}

/** A server process of the published program, with the clients that attack it. It ends with the test. */
export interface Target {
  readonly home: Home;
  readonly port: number;
  readonly pid: number;
  /** The code in the printed login link. */
  readonly code: string;
  readonly socketUrl: string;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly get: (path: string, more?: RequestParams) => Promise<ReceivedResponse>;
  readonly post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<ReceivedResponse>;
  /** Opens a WebSocket; `token` defaults to the owner's, null sends none. */
  readonly connect: (query?: TargetQuery, options?: ConnectOptions) => Promise<TargetClient>;
  /** Opens a TCP connection and writes these bytes. */
  readonly openSocket: (data?: string | Uint8Array) => Socket;
  /** Ends the server with SIGTERM. */
  readonly stop: () => Promise<void>;
  /** Settles when the server has ended. */
  readonly exitCode: Promise<number | null>;
}

export type TargetQuery = Readonly<Record<string, string | null>>;

export interface ConnectOptions extends ClientOptions {
  /** Replaces the printed address. */
  readonly url?: string;
}

/** Starts `tau serve` on a free port and waits until it accepts clients. */
export async function startTarget(options: TargetOptions = {}): Promise<Target> {
  const home = options.home ?? newHome();
  const child = spawn(process.execPath, [TAU, 'serve', ...serverArgs(home, options)], {
    cwd: home.cwd,
    env: environment(home, { PI_AUTH_TOKEN: TARGET_TOKEN, ...options.env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (data: string) => {
    stderr += data;
  });
  const exitCode = new Promise<number | null>((resolve) => child.once('close', resolve));
  const stop = async () => {
    child.kill('SIGTERM');
    await exitCode;
  };
  onTestFinished(async () => {
    const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
    await stop();
    clearTimeout(late);
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (data: string) => {
      stdout += data;
      if (stdout.split('\n').length > 2) resolve();
    });
    void exitCode.then(() => reject(new Error(`tau serve ended: ${stderr}`)));
  });
  const [link = '', socketUrl = ''] = stdout.split('\n');
  const isTls = socketUrl.startsWith('wss:');
  const port = Number(new URL(socketUrl).port);
  const get = (path: string, more: RequestParams = {}) => sendRequest({ port, path, isTls, ...more });
  return {
    home,
    port,
    pid: child.pid ?? -1,
    code: new URL(link).hash.replace('#code=', ''),
    socketUrl,
    stdout: () => stdout,
    stderr: () => stderr,
    get,
    post: (path, body, headers = {}) =>
      get(path, {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...headers },
      }),
    connect: (query, more = {}) => TargetClient.connect(connectUrl(more.url ?? socketUrl, query), more),
    openSocket: (data = '') => openSocketTo(port, data),
    stop,
    exitCode,
  };
}

function serverArgs(home: Home, { args = [], script, agentArgs = [], port = 0 }: TargetOptions): string[] {
  const command = [process.execPath, TAU, ...scriptArgs(home, script), ...agentArgs];
  const agent = ['--agent-command', command.map((word) => `'${word}'`).join(' ')];
  return ['--port', String(port), '--drain-seconds', '0', ...(command.length > 2 ? agent : []), ...args];
}

/** A command for agents that start only after `release()`. */
export function slowAgent(): { agent: string; release: () => void } {
  const { path, open } = newGate();
  const wait = `until test -e ${path}; do sleep 0.05; done; exec "$0" "$@"`;
  return { agent: `sh -c '${wait}' ${process.execPath} ${TAU}`, release: open };
}

function connectUrl(url: string, query: TargetQuery = {}): string {
  const { token = TARGET_TOKEN, ...rest } = query;
  const params = new URLSearchParams(token === null ? {} : { token });
  for (const [name, value] of Object.entries(rest)) params.set(name, String(value));
  return `${url}?${params}`;
}

function openSocketTo(port: number, data: string | Uint8Array): Socket {
  const socket = connect({ host: '127.0.0.1', port });
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  socket.write(data);
  return socket;
}

/** An upgrade that got an HTTP response instead of a WebSocket. */
export class UpgradeRejected extends Error {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;

  constructor(status: number, headers: IncomingHttpHeaders, body: string) {
    super(`${status} ${body}`);
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

/** Close code and reason of a WebSocket. */
export interface TargetClose {
  readonly code: number;
  readonly reason: string;
}

/** A WebSocket client that keeps every record and validates it against the protocol. */
export class TargetClient {
  readonly records: WireRecord[] = [];
  /** Every received message, unparsed. */
  readonly texts: string[] = [];
  readonly socket: WebSocket;
  readonly ended: Promise<TargetClose>;
  #end: TargetClose | undefined;
  #failure: Error | undefined;
  #ids = 0;
  #cursor = 0;
  #waiting: (() => void)[] = [];

  static connect(url: string, options: ConnectOptions): Promise<TargetClient> {
    const { url: _url, ...more } = options;
    const socket = new WebSocket(url, { rejectUnauthorized: false, perMessageDeflate: false, ...more });
    const visitor = new TargetClient(socket);
    return new Promise((resolve, reject) => {
      socket.on('open', () => resolve(visitor));
      socket.on('unexpected-response', (_request, response) => {
        void text(response).then((data) =>
          reject(new UpgradeRejected(response.statusCode ?? 0, response.headers, data)),
        );
      });
      socket.on('error', reject);
    });
  }

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('error', () => {});
    socket.on('message', (data) => this.#receive(String(data)));
    this.ended = new Promise((resolve) => {
      socket.once('close', (code, reason) => {
        this.#end = { code, reason: String(reason) };
        resolve(this.#end);
        this.#notify();
      });
    });
    onTestFinished(() => socket.terminate());
  }

  /** Sends an object as JSON; sends text and bytes unchanged. */
  send(value: object | string | Uint8Array): void {
    const isPlain = typeof value === 'string' || value instanceof Uint8Array;
    this.socket.send(isPlain ? value : JSON.stringify(value), () => {});
  }

  async request(command: { type: string; id?: unknown } & Record<string, unknown>): Promise<WireRecord> {
    const id = command.id ?? `v${++this.#ids}`;
    this.send({ ...command, id });
    return this.find((record) => record.type === 'response' && record['id'] === id);
  }

  /** Sends a command that must succeed and returns its data. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes back
  async ok(command: { type: string } & Record<string, unknown>): Promise<any> {
    const response = await this.request(command);
    expect(response, JSON.stringify(response).slice(0, 500)).toMatchObject({ success: true, command: command.type });
    return response['data'];
  }

  /** Sends a command that must fail and returns the response. */
  async refused(command: { type: string } & Record<string, unknown>): Promise<WireRecord> {
    const response = await this.request(command);
    expect(response, JSON.stringify(response).slice(0, 500)).toMatchObject({ success: false });
    return response;
  }

  /** Sends a prompt and waits until its run has settled. */
  async run(message: string): Promise<void> {
    const { runId } = await this.ok({ type: 'prompt', message });
    await this.find((record) => record.type === 'agent_settled' && record['runId'] === runId);
  }

  /** Returns the first record that matches. */
  async find(match: string | ((record: WireRecord) => boolean)): Promise<WireRecord> {
    const fits = typeof match === 'string' ? (record: WireRecord) => record.type === match : match;
    for (let index = 0; ; index++) {
      while (index >= this.records.length) await this.#nextRecord(String(match));
      const record = this.records[index] as WireRecord;
      if (fits(record)) return record;
    }
  }

  /** Returns the next record of this type after the one returned before. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes back
  async next(type: string): Promise<any> {
    for (;;) {
      while (this.#cursor >= this.records.length) await this.#nextRecord(type);
      const record = this.records[this.#cursor++] as WireRecord;
      if (record.type === type) return record;
    }
  }

  /** The session that `server_connected` names. */
  async location(): Promise<{ sessionId: string; sessionFile: string }> {
    const { sessionId, sessionFile } = await this.find('server_connected');
    return { sessionId: String(sessionId), sessionFile: String(sessionFile) };
  }

  async #nextRecord(match: string): Promise<void> {
    if (this.#failure) throw this.#failure;
    if (this.#end) throw new Error(`Closed with ${this.#end.code} ${this.#end.reason} before ${match} came`);
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #receive(data: string): void {
    this.texts.push(data);
    try {
      const record = JSON.parse(data) as WireRecord;
      assertValid(record);
      this.records.push(record);
    } catch (error) {
      this.#failure ??= error as Error;
    }
    this.#notify();
  }

  #notify(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Returns the HTTP response to an upgrade; fails when the upgrade succeeded. */
export async function rejectedUpgrade(connection: Promise<TargetClient>): Promise<UpgradeRejected> {
  const outcome = await connection.catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(UpgradeRejected);
  return outcome as UpgradeRejected;
}

interface TokenOptions {
  readonly scope?: string;
  readonly path?: readonly string[];
  readonly expires?: string;
  readonly name?: string;
  /** Further arguments. */
  readonly args?: readonly string[];
}

/** Creates a token with `tau token create`. */
export async function newToken(home: Home, { scope, path = [], expires, name = 'test', args = [] }: TokenOptions = {}) {
  const flags = [
    ...(scope === undefined ? [] : ['--scope', scope]),
    ...path.flatMap((folder) => ['--path', folder]),
    ...(expires === undefined ? [] : ['--expires', expires]),
  ];
  const { stdout, stderr } = await runTau(home, ['token', 'create', '--name', name, ...flags, ...args]);
  const [, id = ''] = /Token (\S+) /.exec(stderr) ?? [];
  return { token: stdout.trim(), id };
}

export const revokeToken = (home: Home, id: string): Promise<ExitResult> => runTau(home, ['token', 'revoke', id]);

/** Writes a file of plain tokens that only its owner can read. */
export function writeTokensFile(home: Home, tokens: object): string {
  const path = join(home.root, 'tokens.json');
  writeFileSync(path, JSON.stringify({ tokens }));
  chmodSync(path, 0o600);
  return path;
}

/** Every regular file below a folder. */
export const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile());

/** The names of the secrets that the text contains. */
export const secretsIn = (data: string, secrets: Readonly<Record<string, string>>): string[] =>
  Object.keys(secrets).filter((name) => data.includes(secrets[name] as string));

export const readAll = (paths: readonly string[]): string => paths.map((path) => readFileSync(path, 'utf8')).join('\n');
