import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { killAtExit } from './kill-at-exit.mjs';

const { WebSocket } = createRequire(import.meta.url)('ws');

const TOKEN = 'of-the-benchmark';
const KILL_AFTER_MS = 120_000;

/** Calls `use` with a server whose agents play a script. `args` follow `tau serve --port 0`; `node` are flags of Node. */
export async function withServer(workspace, options, use) {
  const server = await startServer(workspace, options);
  try {
    return await use(server);
  } finally {
    await server.stop();
  }
}

/** Starts a server like `withServer`; `agentDir` is where it keeps its sessions. It is killed after `killAfterMs`. */
export async function startServer(
  workspace,
  { script, args = [], node = [], agentDir = workspace.path('agent'), killAfterMs = KILL_AFTER_MS },
) {
  const tau = workspace.path('dist/tau.cjs');
  const agent = `'${process.execPath}' '${tau}' --script '${script}'`;
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...node, tau, 'serve', '--port', '0', '--agent-command', agent, ...args], {
    cwd: workspace.path('project'),
    env: { ...workspace.environment, PI_CODING_AGENT_DIR: agentDir, PI_AUTH_TOKEN: TOKEN },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise((resolve) => child.once('close', resolve));
  const killTimer = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  const forget = killAtExit(child.pid);
  void exited.then(() => {
    clearTimeout(killTimer);
    forget();
  });
  const [loginLink, url] = await firstTwoLines(child);
  return {
    pid: child.pid,
    loginLink,
    url,
    token: TOKEN,
    startMs: performance.now() - startedAt,
    connect: (query) => connect(url, query),
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      await exited;
    },
  };
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
  bytes = 0;
  times = [];
  #socket;
  #waiting = [];
  #requests = 0;

  constructor(socket) {
    this.#socket = socket;
    socket.on('message', (data) => this.#receive(data));
    socket.on('close', (code, reason) => {
      for (const { reject } of this.#waiting) reject(new Error(`The connection was closed with ${code}: ${reason}`));
    });
    socket.on('error', () => undefined);
  }

  send(record) {
    this.#socket.send(JSON.stringify(record));
  }

  /** Sends a command and resolves to the time of its response. */
  request(command) {
    const id = `request ${++this.#requests}`;
    const response = this.until(`{"id":"${id}",`);
    this.send({ id, ...command });
    return response;
  }

  /** Resolves to the time at which a record with this mark near its beginning arrives. */
  until(mark) {
    return this.#arrival(mark, ({ now }) => now);
  }

  /** Resolves to a record with this mark near its beginning. */
  record(mark) {
    return this.#arrival(mark, ({ data }) => JSON.parse(data));
  }

  close() {
    this.#socket.close();
  }

  #arrival(mark, take) {
    const arrival = new Promise((resolve, reject) => this.#waiting.push({ mark, resolve, reject }));
    const taken = arrival.then(take);
    // Awaited later than another record that does not arrive either.
    taken.catch(() => undefined);
    return taken;
  }

  #receive(data) {
    const now = performance.now();
    this.records += 1;
    this.bytes += data.length;
    const head = data.toString('latin1', 0, 200);
    if (head.includes('"text_delta"')) {
      this.text += JSON.parse(data).assistantMessageEvent.delta;
      this.times.push(now);
    }
    if (head.includes('"type":"server_connected"')) this.sessionId = JSON.parse(data).sessionId;
    this.#waiting = this.#waiting.filter(({ mark, resolve }) => {
      if (!head.includes(mark)) return true;
      resolve({ now, data });
      return false;
    });
  }
}
