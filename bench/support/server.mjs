import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';

const { WebSocket } = createRequire(import.meta.url)('ws');

const TOKEN = 'of-the-benchmark';
const PATIENCE_MS = 120_000;

/** Lets `use` work with a server whose agents play a script; `args` go behind `tau serve --port 0`, `node` before it. */
export async function withServer(place, { script, args = [], node = [] }, use) {
  const tau = place.path('dist/tau.cjs');
  const agent = `'${process.execPath}' '${tau}' --script '${script}'`;
  const child = spawn(process.execPath, [...node, tau, 'serve', '--port', '0', '--agent-command', agent, ...args], {
    cwd: place.path('project'),
    env: { ...place.environment, PI_AUTH_TOKEN: TOKEN },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise((resolve) => child.once('close', resolve));
  const hurry = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  try {
    const [loginLink, url] = await printedBy(child);
    return await use({ pid: child.pid, loginLink, connect: (query) => connected(url, query) });
  } finally {
    clearTimeout(hurry);
    child.kill('SIGTERM');
    await exited;
  }
}

/** The first two lines: where people come in, and where clients connect. */
function printedBy(child) {
  let printed = '';
  return new Promise((resolve, reject) => {
    child.once('close', () => reject(new Error('The server ended before it took clients')));
    child.stdout.setEncoding('utf8').on('data', (text) => {
      printed += text;
      const [link, url, rest] = printed.split('\n');
      if (rest !== undefined) resolve([link, url]);
    });
  });
}

/** A client that was told where it is and what was said; it hears records of the types it waits for. */
async function connected(url, query = {}) {
  const socket = new WebSocket(`${url}?${new URLSearchParams({ token: TOKEN, stream: 'delta', ...query })}`);
  const client = new BenchClient(socket);
  await client.until('"type":"state_synced"');
  return client;
}

class BenchClient {
  sessionId = '';
  /** What was streamed to it, and when each piece came. */
  text = '';
  records = 0;
  times = [];
  #socket;
  #waiting = [];

  constructor(socket) {
    this.#socket = socket;
    socket.on('message', (data) => this.#hear(data));
    socket.on('close', () => {
      for (const { reject } of this.#waiting) reject(new Error('The connection was closed'));
    });
    socket.on('error', () => undefined);
  }

  send(record) {
    this.#socket.send(JSON.stringify(record));
  }

  /** Resolves to the moment when a record comes that has this near its beginning. */
  until(mark) {
    return new Promise((resolve, reject) => this.#waiting.push({ mark, resolve, reject }));
  }

  close() {
    this.#socket.close();
  }

  #hear(data) {
    const now = performance.now();
    this.records += 1;
    const head = data.toString('latin1', 0, 200);
    if (head.includes('"text_delta"')) {
      this.text += JSON.parse(data).assistantMessageEvent.delta;
      this.times.push(now);
    }
    if (head.includes('"type":"server_connected"')) this.sessionId = JSON.parse(data).sessionId;
    this.#waiting = this.#waiting.filter(({ mark, resolve }) => {
      if (!head.includes(mark)) return true;
      resolve(now);
      return false;
    });
  }
}
