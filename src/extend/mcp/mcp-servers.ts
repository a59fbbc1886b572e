import type { Tool } from '../../agent/tool.ts';
import { unlessAborted } from '../../agent/unless-aborted.ts';
import type { McpServerStatus } from '../../protocol/generated/vocabulary.ts';
import { type McpEntry, parseMcpEntry } from '../../store/mcp-file.ts';
import { McpServer, type ServerHome, type Wanted } from './server.ts';
import type { ServerPlace } from './target.ts';

/** Each may be a process. */
export const MAX_SERVERS = 50;

export interface McpHome {
  /** Where servers are started from now on. */
  readonly place: () => ServerPlace;
  /** Does something that changes the state, and tells clients of it. */
  readonly change: (work: () => void) => void;
  /** The tools of all servers, whenever they have changed. */
  readonly offer: (tools: readonly Tool[]) => void;
  readonly publish: (server: McpServerStatus) => void;
  /** Whether the agent has a tool of this name from elsewhere. */
  readonly isForeign: (name: string) => boolean;
  readonly warn: (text: string) => void;
}

/** Servers of tools, each on its own: what happens to one is nothing to the others. */
export class McpServers {
  readonly #home: McpHome;
  #servers: ReadonlyMap<string, McpServer> = new Map();
  #ofFiles: ReadonlyMap<string, Wanted> = new Map();
  #ofClients: ReadonlyMap<string, Wanted> = new Map();
  #isClosed = false;

  constructor(home: McpHome) {
    this.#home = home;
  }

  get status(): readonly McpServerStatus[] {
    return [...this.#servers.values()].map(({ status }) => status);
  }

  /** Puts these in the place of those that files have named. Settles when each is ready or has failed. */
  async useFiles(entries: ReadonlyMap<string, McpEntry>): Promise<void> {
    this.#ofFiles = entries;
    await this.#arrange();
  }

  /**
   * Puts these in the place of those that clients have named; one of them takes the place of a server of the files
   * that has its name. Answers how they are when each is ready or has failed, or when nobody waits any more: those
   * that are not ready by then are given up.
   */
  async useClients(servers: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<McpServerStatus[]> {
    this.#ofClients = new Map(Object.entries(servers).map(([name, value]) => [name, wantedFrom(name, value)]));
    const arranged = this.#arrange();
    await unlessAborted(arranged, signal);
    if (signal.aborted) for (const server of this.#servers.values()) server.giveUp('was given up: there was an abort');
    await arranged;
    return [...this.#ofClients.keys()].flatMap((name) => this.#servers.get(name)?.status ?? []);
  }

  /** The session has been left, and what clients have added to it with it. */
  async leaveSession(): Promise<void> {
    if (this.#ofClients.size === 0) return;
    this.#ofClients = new Map();
    await this.#arrange();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#servers.values()].map((server) => server.close()));
  }

  /** Ends what is no longer wanted as it is, and starts what is wanted. What has failed is tried again. */
  async #arrange(): Promise<void> {
    if (this.#isClosed) return;
    const place = this.#home.place();
    const wanted = [...new Map([...this.#ofFiles, ...this.#ofClients])];
    const keyed = new Map(wanted.map(([name, what], index) => [name, index < MAX_SERVERS ? what : TOO_MANY]));
    const kept = new Map([...this.#servers].filter(([name, server]) => isAsWanted(server, keyed.get(name), place)));
    const leaving = [...this.#servers.values()].filter(({ name }) => !kept.has(name));
    this.#replace(kept, () => {
      for (const { name } of leaving) this.#home.publish({ name, status: 'closed', tools: [] });
    });
    await Promise.all(leaving.map((server) => server.close()));
    if (this.#isClosed) return;
    const servers = [...keyed].map(([name, what]) => kept.get(name) ?? new McpServer(name, what, this.#homeOf(place)));
    const fresh = servers.filter(({ name }) => !kept.has(name));
    this.#replace(new Map(servers.map((server) => [server.name, server])), () => {
      for (const { status } of fresh) this.#home.publish(status);
    });
    await Promise.all(fresh.map((server) => server.start()));
  }

  #replace(servers: ReadonlyMap<string, McpServer>, tell: () => void): void {
    this.#home.change(() => {
      this.#servers = servers;
      this.#offer();
      tell();
    });
  }

  #homeOf(place: ServerPlace): ServerHome {
    return {
      place,
      change: (server, work) =>
        this.#home.change(() => {
          work();
          this.#offer();
          this.#home.publish(server.status);
        }),
      isTaken: (name, by) =>
        [...this.#servers.values()].some((other) => other !== by && other.tools.some((tool) => tool.name === name)),
      isForeign: this.#home.isForeign,
      warn: this.#home.warn,
    };
  }

  #offer(): void {
    this.#home.offer([...this.#servers.values()].flatMap(({ tools }) => tools));
  }
}

const TOO_MANY: Wanted = { problem: `There are more than ${MAX_SERVERS} servers` };

function wantedFrom(name: string, value: unknown): Wanted {
  const entry = parseMcpEntry(`servers.${name}`, value);
  return typeof entry === 'string' ? { problem: entry } : entry;
}

/** A program belongs to the folder it was started in. */
function isAsWanted(server: McpServer, wanted: Wanted | undefined, place: ServerPlace): boolean {
  const { status, wanted: before, place: from } = server;
  if (status.status === 'failed' || JSON.stringify(before) !== JSON.stringify(wanted)) return false;
  return 'problem' in before || before.command === undefined || from.cwd === place.cwd;
}
