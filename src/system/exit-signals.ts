import { readFileSync, readlinkSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { exitNow } from './exit-call.ts';

/** The signals that request the exit of this process. */
export type ExitSignal = 'SIGTERM' | 'SIGINT' | 'SIGHUP';

/** The exit codes by which a shell recognises the signal. */
export const signalExitCode: Readonly<Record<ExitSignal, number>> = { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 };

const HANDLER_LIMIT_MS = 8000;
const signals = Object.keys(signalExitCode) as ExitSignal[];

/**
 * Runs `handler` at the first exit signal, then exits with that signal's code, also when the handler fails.
 *
 * A second signal exits at once with its own code; a handler that exceeds its limit is cut off.
 */
export function onExitSignal(
  handler: (signal: ExitSignal) => Promise<void>,
  { limitMs = HANDLER_LIMIT_MS } = {},
): { stop(): void } {
  let isExiting = false;

  const handleAndExit = async (signal: ExitSignal) => {
    const exit = () => exitNow(signalExitCode[signal]);
    setTimeout(exit, limitMs);
    try {
      await handler(signal);
    } finally {
      exit();
    }
  };

  const receive = (signal: ExitSignal) => {
    if (isExiting) exitNow(signalExitCode[signal]);
    isExiting = true;
    void handleAndExit(signal);
  };

  for (const signal of signals) process.on(signal, receive);
  return {
    stop: () => {
      for (const signal of signals) process.off(signal, receive);
    },
  };
}

// A process ends within 2 seconds after its parent (rule Z34).
const PARENT_CHECK_MS = 1000;

// How often a process checks its parent itself while another one does it: that one may be stopped or foreign.
const FOLLOWER_CHECK_MS = 60_000;

// The delay before a process whose watching sibling has ended tries to take its place.
const ELECTION_DELAY_MS = 50;

/**
 * Calls `onParentExit` once when the process that started this one has died.
 *
 * On Linux one of the children of a parent checks it, and the others wait for the end of their connection to that child:
 * idle processes have no timer to speak of. Does not keep the process alive. A parent that died before the call is not
 * noticed.
 */
export function watchParent(onParentExit: () => void, intervalMs = PARENT_CHECK_MS): { stop(): void } {
  const watch = new ParentWatch(onParentExit, intervalMs);
  return { stop: () => watch.stop() };
}

class ParentWatch {
  readonly #parent = process.ppid;
  readonly #name = socketName(process.ppid);
  readonly #onParentExit: () => void;
  readonly #intervalMs: number;
  readonly #followers = new Set<Socket>();
  #timer: NodeJS.Timeout | undefined;
  #server: Server | undefined;
  #leader: Socket | undefined;
  #isStopped = false;

  constructor(onParentExit: () => void, intervalMs: number) {
    this.#onParentExit = onParentExit;
    this.#intervalMs = intervalMs;
    if (this.#name === undefined) this.#checkEvery(intervalMs);
    else this.#lead(this.#name);
  }

  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
    this.#leader?.destroy();
    this.#server?.close();
    for (const follower of this.#followers) follower.destroy();
  }

  /** Checks the parent for all of its children, unless another child does. */
  #lead(name: string): void {
    if (this.#isStopped || this.#check()) return;
    this.#checkEvery(this.#intervalMs);
    const server = createServer((follower) => {
      this.#followers.add(follower);
      follower.on('error', () => {}).on('close', () => this.#followers.delete(follower));
      follower.unref();
    });
    server.once('error', () => this.#follow(name));
    server.listen({ path: name, exclusive: true }, () => {
      // Later errors are failed accepts: that process tries again.
      server.removeAllListeners('error').on('error', () => {});
      if (this.#isStopped) server.close();
    });
    this.#server = server.unref();
  }

  /** Waits until the connection to the checking child ends: with that child, or because the parent has died. */
  #follow(name: string): void {
    if (this.#isStopped) return;
    const leader = connect(name);
    leader.on('error', () => {});
    leader.once('connect', () => this.#checkEvery(FOLLOWER_CHECK_MS));
    leader.once('close', () => {
      if (this.#isStopped || this.#check()) return;
      this.#checkEvery(this.#intervalMs);
      setTimeout(() => this.#lead(name), ELECTION_DELAY_MS).unref();
    });
    this.#leader = leader.unref().resume();
  }

  #checkEvery(ms: number): void {
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#check(), ms).unref();
  }

  /** Whether the parent has died; then the other children are notified. */
  #check(): boolean {
    if (this.#isStopped || process.ppid === this.#parent) return false;
    this.stop();
    this.#onParentExit();
    return true;
  }
}

/** A name that the children of one parent share; undefined where there are no abstract sockets. */
function socketName(parent: number): string | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const stat = readFileSync(`/proc/${parent}/stat`, 'utf8');
    const startedAt = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    return `\0tau-parent-${process.getuid?.()}-${readlinkSync('/proc/self/ns/pid')}-${parent}-${startedAt}`;
  } catch {
    return undefined;
  }
}
