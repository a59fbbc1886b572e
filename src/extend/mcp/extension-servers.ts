import { type McpEntry, parseMcpEntry } from '../../store/mcp/mcp-file.ts';

/** A server that an extension has registered. */
export interface ExtensionMcpServer {
  readonly name: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** The path of the extension. */
  readonly extensionPath: string;
}

/** An extension, as far as it owns servers: one object per load. */
export interface McpServerRegistrant {
  readonly path: string;
}

/** An extension, as far as it shows whether it connects MCP servers itself. */
interface McpClientExtension {
  readonly flags: { readonly has: (name: string) => boolean };
  readonly handles: (event: never) => boolean;
}

/**
 * Whether an extension connects the servers of `mcp.json` itself: one that handles `mcp_servers_change`, as pi defines
 * it, or that has the flag `mcp-config` of pi-mcp-adapter. tau then starts none of them.
 */
export const connectsMcpServers = ({ flags, handles }: McpClientExtension): boolean =>
  flags.has('mcp-config') || handles('mcp_servers_change' as never);

interface Registration extends ExtensionMcpServer {
  readonly owner: McpServerRegistrant;
  readonly entry: McpEntry;
}

/** The MCP servers that extensions have registered. Loads no MCP code. */
export class ExtensionMcpServers {
  readonly #onChange: () => void;
  readonly #registrations = new Map<string, Registration>();

  /** `onChange` is called after every change. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Adds a server or replaces it; throws for an invalid one and for a name of another extension. */
  register(owner: McpServerRegistrant, name: string, config: unknown): void {
    const other = this.#registrations.get(name);
    if (other && other.extensionPath !== owner.path)
      throw new Error(`The MCP server ${name} is already registered by ${other.extensionPath}`);
    const entry = name === '' ? 'an MCP server needs a name' : parseMcpEntry(`mcpServers.${name}`, config);
    if (typeof entry === 'string') throw new Error(entry);
    const copy = structuredClone(config) as ExtensionMcpServer['config'];
    this.#registrations.set(name, { owner, name, entry, config: copy, extensionPath: owner.path });
    this.#onChange();
  }

  /** Removes a server of this extension; those of others stay. */
  unregister(owner: McpServerRegistrant, name: string): void {
    if (this.#registrations.get(name)?.extensionPath !== owner.path) return;
    this.#registrations.delete(name);
    this.#onChange();
  }

  /** Removes what this load of an extension has registered; call it when the extension ends. */
  removeAll(owner: McpServerRegistrant): void {
    const owned = [...this.#registrations.values()].filter((registration) => registration.owner === owner);
    for (const { name } of owned) this.#registrations.delete(name);
    if (owned.length > 0) this.#onChange();
  }

  /** Registers the servers of these extensions with `target`; a failure is reported and does not affect the others. */
  moveTo(
    target: ExtensionMcpServers,
    owners: readonly McpServerRegistrant[],
    onFailure: (extensionPath: string, error: unknown) => void,
  ): void {
    for (const { owner, name, config } of this.#registrations.values()) {
      if (!owners.includes(owner)) continue;
      try {
        target.register(owner, name, config);
      } catch (error) {
        onFailure(owner.path, error);
      }
    }
    this.#registrations.clear();
  }

  /** Copies of the registered servers, in the order of registration. */
  list(): ExtensionMcpServer[] {
    return [...this.#registrations.values()].map(({ name, config, extensionPath }) => ({
      name,
      config: structuredClone(config),
      extensionPath,
    }));
  }

  get entries(): ReadonlyMap<string, McpEntry> {
    return new Map([...this.#registrations].map(([name, { entry }]) => [name, entry]));
  }
}
