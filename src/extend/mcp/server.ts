import type { Tool } from '../../agent/tool.ts';
import { redact } from '../../model/keys/redact.ts';
import { messageOf } from '../../protocol/errors.ts';
import type { McpServerStatus } from '../../protocol/generated/vocabulary.ts';
import type { McpEntry } from '../../store/mcp-file.ts';
import type { Connection } from './connection.ts';
import { MAX_WAIT_MS } from './limits.ts';
import { type CallTool, serverTool } from './server-tool.ts';
import { type ServerPlace, targetOf } from './target.ts';
import type { ToolList } from './tool-list.ts';
import { toolName } from './tool-names.ts';

/** How long a server may take to be ready for use, unless its entry says otherwise. */
const CONNECT_MS = 10_000;

/** How long it may say nothing while it works on a call, unless its entry says otherwise. */
const CALL_MS = 60_000;

/** When a server that was lost is connected again. It starts over with each call that the server answers. */
const AGAIN_AFTER_MS = [0, 2000, 10_000, 60_000];

/** How often a server may have its tools listed. */
const LIST_EVERY_MS = 1000;

/** What is to be connected, or why that makes no sense. */
export type Wanted = McpEntry | { readonly problem: string };

/** What a server needs of those around it. */
export interface ServerHome {
  readonly place: ServerPlace;
  /** Changes this server, and has everybody told. */
  readonly change: (server: McpServer, work: () => void) => void;
  /** Whether another server has a tool of this name. */
  readonly isTaken: (name: string, by: McpServer) => boolean;
  /** Whether the agent has another tool of this name. */
  readonly isForeign: (name: string) => boolean;
  readonly warn: (text: string) => void;
}

/** One server: it is connected, lost and connected again. Nothing that happens to it rejects. */
export class McpServer {
  readonly name: string;
  readonly wanted: Wanted;
  readonly #home: ServerHome;
  #state: McpServerStatus['status'] = 'connecting';
  #error: string | undefined;
  #tools: readonly Tool[] = [];
  #secrets: readonly string[] = [];
  #connection: Connection | undefined;
  #attempt: Promise<void> = Promise.resolve();
  #giveUp: AbortController | undefined;
  #wasReady = false;
  #tries = 0;
  #listedAt = 0;
  #again: NodeJS.Timeout | undefined;
  #listing: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(name: string, wanted: Wanted, home: ServerHome) {
    this.name = name;
    this.wanted = wanted;
    this.#home = home;
    if ('problem' in wanted) {
      this.#state = 'failed';
      this.#error = wanted.problem;
    } else if (wanted.disabled) this.#state = 'disabled';
  }

  get status(): McpServerStatus {
    const tools = this.#tools.map(({ name }) => name);
    return {
      name: this.name,
      status: this.#state,
      tools,
      ...(this.#error === undefined ? {} : { error: this.#error }),
    };
  }

  get tools(): readonly Tool[] {
    return this.#tools;
  }

  /** Where it was started. */
  get place(): ServerPlace {
    return this.#home.place;
  }

  /** Settles when the server is ready or has failed. */
  start(): Promise<void> {
    if (this.#state === 'connecting') this.#attempt = this.#connect();
    return this.#attempt;
  }

  /** Stops waiting for a server that is being connected. */
  giveUp(reason: string): void {
    this.#giveUp?.abort(reason);
  }

  /** Settles when nothing of it is left. */
  async close(): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#again);
    clearTimeout(this.#listing);
    this.giveUp('was closed');
    await this.#connection?.close();
    await this.#attempt;
  }

  async #connect(): Promise<void> {
    if ('problem' in this.wanted) return;
    const { timeoutMs = CONNECT_MS } = this.wanted;
    const limitMs = Math.min(timeoutMs, MAX_WAIT_MS);
    const giveUp = new AbortController();
    const { signal } = giveUp;
    this.#giveUp = giveUp;
    const timer = setTimeout(() => giveUp.abort(`did not connect within ${limitMs / 1000} seconds`), limitMs);
    let connection: Connection | undefined;
    try {
      const { way, secrets } = await targetOf(this.wanted, this.#home.place, signal);
      this.#secrets = secrets;
      const { Connection } = await import('./connection.ts');
      connection = await Connection.open({
        way,
        signal,
        onLost: (lost, trouble) => this.#lost(lost, trouble),
        onToolsChanged: () => this.#listSoon(),
      });
      this.#ready(connection, await connection.listTools(signal));
    } catch (error) {
      await connection?.close();
      this.#failed(signal.aborted ? String(signal.reason) : messageOf(error));
    } finally {
      clearTimeout(timer);
      this.#giveUp = undefined;
    }
  }

  #ready(connection: Connection, list: ToolList): void {
    this.#connection = connection;
    this.#wasReady = true;
    this.#change(() => {
      this.#state = 'ready';
      this.#error = undefined;
      this.#take(list);
    });
  }

  #failed(trouble: string): void {
    this.#connection = undefined;
    this.#change(() => {
      this.#state = 'failed';
      this.#error = redact(trouble, this.#secrets);
      this.#tools = [];
    });
    if (this.#wasReady) this.#tryAgain();
  }

  #lost(connection: Connection, trouble: string): void {
    if (connection === this.#connection) this.#failed(trouble);
  }

  #tryAgain(): void {
    const delay = AGAIN_AFTER_MS[this.#tries++];
    if (delay === undefined || this.#isOver) return;
    this.#again = setTimeout(() => {
      this.#change(() => {
        this.#state = 'connecting';
        this.#error = undefined;
      });
      this.#attempt = this.#connect();
    }, delay).unref();
  }

  /** A server that calls its list changed whenever it is asked for it is asked again, but not without a pause. */
  #listSoon(): void {
    if (this.#listing !== undefined || this.#isOver) return;
    const delay = Math.max(0, this.#listedAt + LIST_EVERY_MS - Date.now());
    this.#listing = setTimeout(() => void this.#list(), delay).unref();
  }

  async #list(): Promise<void> {
    this.#listing = undefined;
    this.#listedAt = Date.now();
    const connection = this.#connection;
    // What it lists just now may be what has changed.
    if (this.#state === 'connecting') this.#listSoon();
    try {
      const list = await connection?.listTools(AbortSignal.timeout(CONNECT_MS));
      if (list && connection === this.#connection) this.#change(() => this.#take(list));
    } catch (error) {
      if (!this.#isOver) this.#warn(`its new list of tools is passed over: ${messageOf(error)}`);
    }
  }

  #take({ tools, problems }: ToolList): void {
    for (const problem of problems) this.#warn(problem);
    const names = new Set<string>();
    const isTaken = (name: string) => names.has(name) || this.#home.isTaken(name, this);
    this.#tools = tools.flatMap((tool) => {
      const name = toolName(this.name, tool.name, isTaken);
      names.add(name);
      if (!this.#home.isForeign(name)) return serverTool(name, tool, this.#call);
      this.#warn(`its tool ${name} is left out: there is another one of that name`);
      return [];
    });
  }

  readonly #call: CallTool = async (tool, { args, signal, onProgress }) => {
    const { ServerTrouble } = await import('./connection.ts');
    const { timeoutMs = CALL_MS } = this.wanted as McpEntry;
    try {
      if (!this.#connection) throw new ServerTrouble('is not connected');
      const call = { tool, args, signal, timeoutMs: Math.min(timeoutMs, MAX_WAIT_MS), onProgress };
      const answer = await this.#connection.call(call);
      this.#tries = 0;
      return answer;
    } catch (error) {
      const words = redact(messageOf(error), this.#secrets);
      throw new Error(error instanceof ServerTrouble ? `The MCP server ${this.name} ${words}` : words);
    }
  };

  #change(work: () => void): void {
    if (!this.#isOver) this.#home.change(this, work);
  }

  #warn(text: string): void {
    this.#home.warn(`MCP server ${this.name}: ${redact(text, this.#secrets)}`);
  }
}
