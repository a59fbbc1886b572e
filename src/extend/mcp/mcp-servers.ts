import type { Tool } from '../../agent/tool.ts';
import { unlessAborted } from '../../agent/unless-aborted.ts';
import type { McpServerStatus } from '../../protocol/generated/vocabulary.ts';
import { type McpEntry, parseMcpEntry } from '../../store/mcp-file.ts';
import { McpServer, type McpServerOwner, type McpServerSpec } from './server.ts';
import type { ServerEnv } from './server-target.ts';

/** Limit of servers: each may be a process. */
export const MAX_MCP_SERVERS = 50;

export interface McpAgent {
  /** The environment for servers that start from now on. */
  readonly environment: () => ServerEnv;
  /** Runs a change of state and publishes the changed fields. */
  readonly change: (work: () => void) => void;
  /** Receives the tools of all servers after every change. */
  readonly publishTools: (tools: readonly Tool[]) => void;
  readonly publish: (server: McpServerStatus) => void;
  readonly isAgentTool: (name: string) => boolean;
  readonly warn: (text: string) => void;
}

/** The MCP servers of an agent. A failing server does not affect the others. */
export class McpServers {
  readonly #agent: McpAgent;
  #servers: ReadonlyMap<string, McpServer> = new Map();
  #fromFiles: ReadonlyMap<string, McpServerSpec> = new Map();
  #fromClients: ReadonlyMap<string, McpServerSpec> = new Map();
  #isClosed = false;

  constructor(agent: McpAgent) {
    this.#agent = agent;
  }

  get status(): readonly McpServerStatus[] {
    return [...this.#servers.values()].map(({ status }) => status);
  }

  /** Replaces the servers of configuration files. Resolves when each is ready or has failed. */
  async setFileServers(entries: ReadonlyMap<string, McpEntry>): Promise<void> {
    this.#fromFiles = entries;
    await this.#reconcile();
  }

  /** Replaces the servers of clients, which override file servers of the same name. An abort abandons connecting ones. */
  async setClientServers(servers: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<McpServerStatus[]> {
    this.#fromClients = new Map(Object.entries(servers).map(([name, value]) => [name, specFrom(name, value)]));
    const reconciled = this.#reconcile();
    await unlessAborted(reconciled, signal);
    if (signal.aborted) for (const server of this.#servers.values()) server.abandon('was given up: there was an abort');
    await reconciled;
    return [...this.#fromClients.keys()].flatMap((name) => this.#servers.get(name)?.status ?? []);
  }

  /** Removes the servers of clients when the session changes. */
  async removeClientServers(): Promise<void> {
    if (this.#fromClients.size === 0) return;
    this.#fromClients = new Map();
    await this.#reconcile();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#servers.values()].map((server) => server.close()));
  }

  /** Closes changed and removed servers, then starts new ones. Failed servers are retried. */
  async #reconcile(): Promise<void> {
    if (this.#isClosed) return;
    const env = this.#agent.environment();
    const requested = [...new Map([...this.#fromFiles, ...this.#fromClients])];
    const specs = new Map(requested.map(([name, spec], index) => [name, index < MAX_MCP_SERVERS ? spec : TOO_MANY]));
    const kept = new Map([...this.#servers].filter(([name, server]) => isUpToDate(server, specs.get(name), env)));
    const removed = [...this.#servers.values()].filter(({ name }) => !kept.has(name));
    this.#replace(kept, () => {
      for (const { name } of removed) this.#agent.publish({ name, status: 'closed', tools: [] });
    });
    await Promise.all(removed.map((server) => server.close()));
    if (this.#isClosed) return;
    const servers = [...specs].map(([name, spec]) => kept.get(name) ?? new McpServer(name, spec, this.#ownerFor(env)));
    const added = servers.filter(({ name }) => !kept.has(name));
    this.#replace(new Map(servers.map((server) => [server.name, server])), () => {
      for (const { status } of added) this.#agent.publish(status);
    });
    await Promise.all(added.map((server) => server.start()));
  }

  #replace(servers: ReadonlyMap<string, McpServer>, publish: () => void): void {
    this.#agent.change(() => {
      this.#servers = servers;
      this.#publishTools();
      publish();
    });
  }

  #ownerFor(environment: ServerEnv): McpServerOwner {
    return {
      environment,
      change: (server, work) =>
        this.#agent.change(() => {
          work();
          this.#publishTools();
          this.#agent.publish(server.status);
        }),
      isTaken: (name, by) =>
        [...this.#servers.values()].some((other) => other !== by && other.tools.some((tool) => tool.name === name)),
      isAgentTool: this.#agent.isAgentTool,
      warn: this.#agent.warn,
    };
  }

  #publishTools(): void {
    this.#agent.publishTools([...this.#servers.values()].flatMap(({ tools }) => tools));
  }
}

const TOO_MANY: McpServerSpec = { problem: `There are more than ${MAX_MCP_SERVERS} servers` };

function specFrom(name: string, value: unknown): McpServerSpec {
  const entry = parseMcpEntry(`servers.${name}`, value);
  return typeof entry === 'string' ? { problem: entry } : entry;
}

// A program must restart when its working folder changes.
function isUpToDate(server: McpServer, spec: McpServerSpec | undefined, env: ServerEnv): boolean {
  const { status, spec: current, environment: startedIn } = server;
  if (status.status === 'failed' || JSON.stringify(current) !== JSON.stringify(spec)) return false;
  return 'problem' in current || current.command === undefined || startedIn.cwd === env.cwd;
}
