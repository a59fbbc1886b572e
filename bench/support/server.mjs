import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';

const { WebSocket } = createRequire(import.meta.url)('ws');

const TOKEN = 'of-the-benchmark';
const KILL_AFTER_MS = 120_000;

/** Calls `use` with a server whose agents play a script. `args` follow `tau serve --port 0`; `node` are flags of Node. */
export async function withServer(workspace, { script, args = [], node = [] }, use) {
  const tau = workspace.path('dist/tau.cjs');
  const agent = `'${process.execPath}' '${tau}' --script '${script}'`;
  const child = spawn(process.execPath, [...node, tau, 'serve', '--port', '0', '--agent-command', agent, ...args], {
    cwd: workspace.path('project'),
    env: { ...workspace.environment, PI_AUTH_TOKEN: TOKEN },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise((resolve) => child.once('close', resolve));
  const killTimer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
  try {
    const [loginLink, url] = await firstTwoLines(child);
    return await use({ pid: child.pid, loginLink, connect: (query) => connect(url, query) });
  } finally {
    clearTimeout(killTimer);
    child.kill('SIGTERM');
    await exited;
  }
}

/** The first two printed lines: the login link and the address for clients. */
function firstTwoLines(child) {
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

/** Connects a client and waits for its snapshot. */
async function connect(url, query = {}) {
  const socket = new WebSocket(`${url}?${new URLSearchParams({ token: TOKEN, stream: 'delta', ...query })}`);
  const client = new BenchClient(socket);
  await client.until('"type":"state_synced"');
  return client;
}

class BenchClient {
  sessionId = '';
  /** The streamed text; `times` has the arrival of each delta. */
  text = '';
  records = 0;
  times = [];
  #socket;
  #waiting = [];

  constructor(socket) {
    this.#socket = socket;
    socket.on('message', (data) => this.#receive(data));
    socket.on('close', () => {
      for (const { reject } of this.#waiting) reject(new Error('The connection was closed'));
    });
    socket.on('error', () => undefined);
  }

  send(record) {
    this.#socket.send(JSON.stringify(record));
  }

  /** Resolves to the time at which a record with this mark near its beginning arrives. */
  until(mark) {
    return new Promise((resolve, reject) => this.#waiting.push({ mark, resolve, reject }));
  }

  close() {
    this.#socket.close();
  }

  #receive(data) {
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
