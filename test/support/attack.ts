import { spawn } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import { type ReceivedResponse, type RequestParams, sendRequest } from '../../src/server/http/testing/raw-clients.ts';
import { type Finished, tau } from './command.ts';
import { environment, type Home, newGate, newHome, scriptArgs, TAU } from './open.ts';
import type { Record_ } from './peer.ts';
import { assertValid } from './wire-log.ts';

/** The token of whoever started the server. */
export const OWNER = 'the-owners-own-token-0123456789';

export interface TargetOptions {
  readonly home?: Home;
  /** More arguments after `serve`. */
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  /** Answers of the model of every agent. */
  readonly script?: readonly object[];
  /** More arguments of every agent. */
  readonly agentArgs?: readonly string[];
  readonly port?: number;
}

/** A server of the published program, and ways to get at it. It is gone after the test. */
export interface Target {
  readonly home: Home;
  readonly port: number;
  readonly pid: number;
  /** The code in the login link that it printed. */
  readonly code: string;
  readonly socketUrl: string;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly get: (path: string, more?: RequestParams) => Promise<ReceivedResponse>;
  readonly post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<ReceivedResponse>;
  /** Opens a socket; `token` is that of the owner unless it says otherwise, or none where it is null. */
  readonly visit: (query?: Query, options?: VisitOptions) => Promise<Visitor>;
  /** A bare connection, with these bytes said. */
  readonly dial: (said?: string | Uint8Array) => Socket;
  /** Ends it as a service manager does. */
  readonly stop: () => Promise<void>;
}

export type Query = Readonly<Record<string, string | null>>;

export interface VisitOptions extends ClientOptions {
  /** Instead of the address that it printed. */
  readonly url?: string;
}

/** Starts `tau serve` on a free port. */
export async function serveTau(options: TargetOptions = {}): Promise<Target> {
  const home = options.home ?? newHome();
  const child = spawn(process.execPath, [TAU, 'serve', ...serverArgs(home, options)], {
    cwd: home.cwd,
    env: environment(home, { PI_AUTH_TOKEN: OWNER, ...options.env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (said: string) => {
    stderr += said;
  });
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  onTestFinished(async () => {
    const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
    await stop();
    clearTimeout(late);
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (said: string) => {
      stdout += said;
      if (stdout.split('\n').length > 2) resolve();
    });
    void exited.then(() => reject(new Error(`tau serve ended: ${stderr}`)));
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
    visit: (query, more = {}) => Visitor.to(addressOf(more.url ?? socketUrl, query), more),
    dial: (said = '') => dialPort(port, said),
    stop,
  };
}

function serverArgs(home: Home, { args = [], script, agentArgs = [], port = 0 }: TargetOptions): string[] {
  const words = [process.execPath, TAU, ...scriptArgs(home, script), ...agentArgs];
  const agent = ['--agent-command', words.map((word) => `'${word}'`).join(' ')];
  return ['--port', String(port), '--drain-seconds', '0', ...(words.length > 2 ? agent : []), ...args];
}

/** A command for agents that take their time until `begin` is called. */
export function slowAgent(): { agent: string; begin: () => void } {
  const { path, open } = newGate();
  const wait = `until test -e ${path}; do sleep 0.05; done; exec "$0" "$@"`;
  return { agent: `sh -c '${wait}' ${process.execPath} ${TAU}`, begin: open };
}

function addressOf(url: string, query: Query = {}): string {
  const { token = OWNER, ...rest } = query;
  const words = new URLSearchParams(token === null ? {} : { token });
  for (const [name, value] of Object.entries(rest)) words.set(name, String(value));
  return `${url}?${words}`;
}

function dialPort(port: number, said: string | Uint8Array): Socket {
  const socket = connect({ host: '127.0.0.1', port });
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  socket.write(said);
  return socket;
}

/** An upgrade that was answered with something else. */
export class Refused extends Error {
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

/** How a socket ended. */
export interface End {
  readonly code: number;
  readonly reason: string;
}

/** A client over a socket: keeps every record, each of which is checked against the protocol. */
export class Visitor {
  readonly records: Record_[] = [];
  /** Every text that came, as it came. */
  readonly texts: string[] = [];
  readonly socket: WebSocket;
  readonly ended: Promise<End>;
  #end: End | undefined;
  #broken: Error | undefined;
  #ids = 0;
  #cursor = 0;
  #wake: (() => void)[] = [];

  static to(url: string, options: VisitOptions): Promise<Visitor> {
    const { url: _url, ...more } = options;
    const socket = new WebSocket(url, { rejectUnauthorized: false, perMessageDeflate: false, ...more });
    const visitor = new Visitor(socket);
    return new Promise((resolve, reject) => {
      socket.on('open', () => resolve(visitor));
      socket.on('unexpected-response', (_request, response) => {
        void text(response).then((said) => reject(new Refused(response.statusCode ?? 0, response.headers, said)));
      });
      socket.on('error', reject);
    });
  }

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('error', () => {});
    socket.on('message', (data) => this.#take(String(data)));
    this.ended = new Promise((resolve) => {
      socket.once('close', (code, reason) => {
        this.#end = { code, reason: String(reason) };
        resolve(this.#end);
        this.#notify();
      });
    });
    onTestFinished(() => socket.terminate());
  }

  /** Sends a value as JSON, or text and bytes as they are. */
  send(value: object | string | Uint8Array): void {
    const isPlain = typeof value === 'string' || value instanceof Uint8Array;
    this.socket.send(isPlain ? value : JSON.stringify(value), () => {});
  }

  async request(command: { type: string; id?: unknown } & Record<string, unknown>): Promise<Record_> {
    const id = command.id ?? `v${++this.#ids}`;
    this.send({ ...command, id });
    return this.find((record) => record.type === 'response' && record['id'] === id);
  }

  /** Sends a command that must succeed, and answers its data. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes back
  async ok(command: { type: string } & Record<string, unknown>): Promise<any> {
    const response = await this.request(command);
    expect(response, JSON.stringify(response).slice(0, 500)).toMatchObject({ success: true, command: command.type });
    return response['data'];
  }

  /** Sends a command that must be refused, and answers the refusal. */
  async refused(command: { type: string } & Record<string, unknown>): Promise<Record_> {
    const response = await this.request(command);
    expect(response, JSON.stringify(response).slice(0, 500)).toMatchObject({ success: false });
    return response;
  }

  /** Sends a prompt and waits until its run has settled. */
  async run(message: string): Promise<void> {
    const { runId } = await this.ok({ type: 'prompt', message });
    await this.find((record) => record.type === 'agent_settled' && record['runId'] === runId);
  }

  /** The first record that fits. */
  async find(match: string | ((record: Record_) => boolean)): Promise<Record_> {
    const fits = typeof match === 'string' ? (record: Record_) => record.type === match : match;
    for (let index = 0; ; index++) {
      while (index >= this.records.length) await this.#more(String(match));
      const record = this.records[index] as Record_;
      if (fits(record)) return record;
    }
  }

  /** The next record that fits, after those that `next` has answered before. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes back
  async next(type: string): Promise<any> {
    for (;;) {
      while (this.#cursor >= this.records.length) await this.#more(type);
      const record = this.records[this.#cursor++] as Record_;
      if (record.type === type) return record;
    }
  }

  /** Where it is, when it is there: the first record of all. */
  async place(): Promise<{ sessionId: string; sessionFile: string }> {
    const { sessionId, sessionFile } = await this.find('server_connected');
    return { sessionId: String(sessionId), sessionFile: String(sessionFile) };
  }

  async #more(wanted: string): Promise<void> {
    if (this.#broken) throw this.#broken;
    if (this.#end) throw new Error(`Closed with ${this.#end.code} ${this.#end.reason} before ${wanted} came`);
    await new Promise<void>((resolve) => {
      this.#wake.push(resolve);
    });
  }

  #take(said: string): void {
    this.texts.push(said);
    try {
      const record = JSON.parse(said) as Record_;
      assertValid(record);
      this.records.push(record);
    } catch (error) {
      this.#broken ??= error as Error;
    }
    this.#notify();
  }

  #notify(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}

/** Why an upgrade was refused. Fails when it was not. */
export async function refusal(visit: Promise<Visitor>): Promise<Refused> {
  const outcome = await visit.catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(Refused);
  return outcome as Refused;
}

/** What a new token may do. */
interface TokenWish {
  readonly scope?: string;
  readonly path?: readonly string[];
  readonly expires?: string;
  readonly name?: string;
}

/** Makes a token with the program, as its user does. */
export async function newToken(home: Home, { scope, path = [], expires, name = 'test' }: TokenWish = {}) {
  const words = [
    ...(scope === undefined ? [] : ['--scope', scope]),
    ...path.flatMap((folder) => ['--path', folder]),
    ...(expires === undefined ? [] : ['--expires', expires]),
  ];
  const { stdout, stderr } = await tau(home, ['token', 'create', '--name', name, ...words]);
  const [, id = ''] = /Token (\S+) /.exec(stderr) ?? [];
  return { token: stdout.trim(), id };
}

export const revoke = (home: Home, id: string): Promise<Finished> => tau(home, ['token', 'revoke', id]);

/** Writes a file of plain tokens that only its user can read. */
export function tokensFile(home: Home, tokens: object): string {
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

/** Which of these secrets stand in a text. */
export const secretsIn = (said: string, secrets: Readonly<Record<string, string>>): string[] =>
  Object.keys(secrets).filter((name) => said.includes(secrets[name] as string));

export const readAll = (paths: readonly string[]): string => paths.map((path) => readFileSync(path, 'utf8')).join('\n');
