import { spawn } from 'node:child_process';

const LF = 10;
const MAX_HEAD_LENGTH = 600;
const KILL_AFTER_MS = 120_000;

/** A process with JSON lines on stdio, read cheaply: only the beginning of each line is decoded. */
export class Child {
  /** Bytes read from stdout so far. */
  bytes = 0;
  startedAt = performance.now();
  #process;
  #exited;
  #head = '';
  #stderr = '';
  #waiting = [];

  constructor(args, { cwd, env, stdin = 'pipe', node = process.execPath }) {
    this.#process = spawn(node, args, { cwd, env, stdio: [stdin, 'pipe', 'pipe'] });
    this.#process.stdin?.on('error', () => undefined);
    this.#process.stdout.on('data', (chunk) => this.#take(chunk));
    this.#process.stderr.on('data', (chunk) => {
      this.#stderr += chunk;
    });
    const killTimer = setTimeout(() => this.kill(), KILL_AFTER_MS);
    this.#exited = new Promise((resolve) => {
      this.#process.on('close', () => {
        clearTimeout(killTimer);
        for (const { reject } of this.#waiting) reject(new Error(`${args.join(' ')} ended: ${this.#stderr}`));
        resolve();
      });
    });
  }

  get pid() {
    return this.#process.pid;
  }

  send(record) {
    this.write(`${JSON.stringify(record)}\n`);
  }

  write(bytes) {
    this.#process.stdin.write(bytes);
  }

  /** Resolves to the time at which the next line with this beginning, and this text near it, is complete. */
  until(beginning, text = '') {
    return new Promise((resolve, reject) => this.#waiting.push({ beginning, text, resolve, reject }));
  }

  /** Sends a command and resolves to the time of its response. */
  request(command) {
    const response = this.until(`{"id":${JSON.stringify(command.id)},`);
    this.send(command);
    return response;
  }

  pause() {
    this.#process.stdout.pause();
  }

  resume() {
    this.#process.stdout.resume();
  }

  /** Closes stdin and waits until the process has ended. */
  async end() {
    this.#process.stdin?.end();
    await this.#exited;
  }

  kill() {
    this.#process.kill('SIGKILL');
  }

  #take(chunk) {
    this.bytes += chunk.length;
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.#keep(chunk, start, end);
      this.#finish();
      start = end + 1;
    }
    this.#keep(chunk, start, chunk.length);
  }

  #keep(chunk, start, end) {
    const room = MAX_HEAD_LENGTH - this.#head.length;
    if (room > 0 && end > start) this.#head += chunk.toString('latin1', start, Math.min(end, start + room));
  }

  #finish() {
    const head = this.#head;
    this.#head = '';
    if (this.#waiting.length === 0) return;
    const now = performance.now();
    this.#waiting = this.#waiting.filter(({ beginning, text, resolve }) => {
      if (!head.startsWith(beginning) || !head.includes(text)) return true;
      resolve(now);
      return false;
    });
  }
}
