import type { Tool } from '../../agent/tool.ts';
import { unlessAborted } from '../../agent/unless-aborted.ts';
import type { McpServerStatus, SlashCommand } from '../../protocol/generated/vocabulary.ts';
import type { UserInput } from '../../session/hooks.ts';
import { type McpEntry, parseMcpEntry } from '../../store/mcp/mcp-file.ts';
import { instructionsSection } from './instructions.ts';
import { expandMcpInput, type PromptServer, promptCommands } from './prompt-input.ts';
import { agentRequests, type RequestAccess } from './requests/agent-requests.ts';
import { McpServer, type McpServerOwner, type McpServerSpec } from './server.ts';
import type { ServerEnv } from './server-target.ts';

/** Limit of servers: each may be a process. */
export const MAX_MCP_SERVERS = 50;

export interface McpAgent extends RequestAccess {
  /** Where sign-ins are stored. */
  readonly agentDir: string;
  /** The environment for servers that start from now on. */
  readonly environment: () => ServerEnv;
  /** Runs a change of state and publishes the changed fields. */
  readonly change: (work: () => void) => void;
  /** Receives the tools of all servers after every change. */
  readonly publishTools: (tools: readonly Tool[]) => void;
  readonly publish: (server: McpServerStatus) => void;
  readonly isAgentTool: (name: string) => boolean;
  readonly warn: (text: string) => void;
  /** Reports a prompt or resource that a message names and that could not be read. */
  readonly reportUnread: (name: string, error: unknown) => void;
}

/** Servers by name; those of files override those of extensions. */
export interface ConfiguredServers {
  /** Absent: the servers of files stay as they are. */
  readonly files?: ReadonlyMap<string, McpEntry>;
  readonly extensions: ReadonlyMap<string, McpEntry>;
}

/** The MCP servers of an agent. A failing server does not affect the others. */
export class McpServers {
  readonly #agent: McpAgent;
  #servers: ReadonlyMap<string, McpServer> = new Map();
  #fromExtensions: ReadonlyMap<string, McpServerSpec> = new Map();
  #fromFiles: ReadonlyMap<string, McpServerSpec> = new Map();
  #fromClients: ReadonlyMap<string, McpServerSpec> = new Map();
  /** The folder that the servers know as their root. */
  #cwd: string | undefined;
  /** Changes of the set of servers run one after another. */
  #replacing: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(agent: McpAgent) {
    this.#agent = agent;
  }

  get status(): readonly McpServerStatus[] {
    return [...this.#servers.values()].map(({ status }) => status);
  }

  /** The prompts of all servers, as slash commands. */
  get commands(): readonly SlashCommand[] {
    return promptCommands(this.#promptServers);
  }

  /** The servers' texts for every model, bounded and with their names; undefined if there are none. */
  get instructions(): string | undefined {
    return instructionsSection([...this.#servers.values()]);
  }

  /** Expands the prompts and resources that a message names; undefined if it names none. */
  expand(input: UserInput, signal: AbortSignal): Promise<UserInput | undefined> {
    return expandMcpInput(input, {
      servers: this.#promptServers,
      signal,
      onFailure: (name, error) => this.#agent.reportUnread(name, error),
    });
  }

  get #promptServers(): PromptServer[] {
    return [...this.#servers.values()].map((server) => ({
      name: server.name,
      prompts: server.prompts,
      isReady: server.status.status === 'ready',
      read: (method, params, signal) => server.read(method, params, signal),
    }));
  }

  /** Replaces the servers of configuration files and extensions. Resolves when each is ready or has failed. */
  async setServers({ files, extensions }: ConfiguredServers): Promise<void> {
    if (files) this.#fromFiles = files;
    this.#fromExtensions = extensions;
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

  /** Resolves when every server that it started is ready or has failed. */
  async #reconcile(): Promise<void> {
    const replaced = this.#replacing.then(() => this.#replaceServers());
    this.#replacing = replaced.then(
      () => {},
      () => {},
    );
    await Promise.all((await replaced).map((server) => server.start()));
  }

  /** Closes changed and removed servers, then starts new ones. Failed servers are retried. */
  async #replaceServers(): Promise<readonly McpServer[]> {
    if (this.#isClosed) return [];
    const env = this.#agent.environment();
    const requested = [...new Map([...this.#fromExtensions, ...this.#fromFiles, ...this.#fromClients])];
    const specs = new Map(requested.map(([name, spec], index) => [name, index < MAX_MCP_SERVERS ? spec : TOO_MANY]));
    const kept = new Map([...this.#servers].filter(([name, server]) => isUpToDate(server, specs.get(name), env)));
    for (const server of kept.values()) if (this.#cwd !== env.cwd) server.rootsChanged();
    this.#cwd = env.cwd;
    const removed = [...this.#servers.values()].filter(({ name }) => !kept.has(name));
    this.#replace(kept, () => {
      for (const { name } of removed) this.#agent.publish({ name, status: 'closed', tools: [] });
    });
    await Promise.all(removed.map((server) => server.close()));
    if (this.#isClosed) return [];
    const servers = [...specs].map(([name, spec]) => kept.get(name) ?? new McpServer(name, spec, this.#ownerFor(env)));
    const added = servers.filter(({ name }) => !kept.has(name));
    this.#replace(new Map(servers.map((server) => [server.name, server])), () => {
      for (const { status } of added) this.#agent.publish(status);
    });
    for (const server of added) void server.start();
    return added;
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
      agentDir: this.#agent.agentDir,
      requestsOf: (server) => agentRequests(server, this.#agent),
      canSignIn: this.#agent.canShowDialogs,
      presentSignIn: async (server, { address, problem }, signal) => {
        const request = `Open ${address} in a browser; paste the code or the last address here if the page shows one.`;
        const title = `MCP server ${server}: sign in. ${problem === undefined ? '' : `${problem} `}${request}`;
        // The address or the code would let other users of a server complete the sign-in.
        const dialog = { method: 'input', title, scope: 'admin' } as const;
        return (await this.#agent.dialogs.open(dialog, { signal, opener: 'command' }))?.value;
      },
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
