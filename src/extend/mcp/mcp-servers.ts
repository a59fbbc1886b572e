import type { Tool } from '../../agent/tool.ts';
import type { McpServerStatus } from '../../protocol/generated/vocabulary.ts';

export interface McpHome {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whose processes the servers are. */
  readonly family: string;
  readonly cwd: () => string;
  /** The tools of all servers, whenever they have changed. */
  readonly offer: (tools: readonly Tool[]) => void;
  readonly publish: (server: McpServerStatus) => void;
}

/** Servers of tools, each on its own: what happens to one is nothing to the others. */
export class McpServers {
  constructor(_home: McpHome) {}

  get status(): readonly McpServerStatus[] {
    return [];
  }

  async close(): Promise<void> {}
}
