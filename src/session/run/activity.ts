import type { AgentEvent, BlockedOn } from '../../protocol/generated/vocabulary.ts';

/** Tracks what the active run is waiting for, for heartbeats. */
export class Activity {
  #kind: BlockedOn['kind'] | undefined;
  #since = 0;
  readonly #tools = new Map<string, { toolName: string; since: number }>();

  apply(event: AgentEvent): void {
    if (event.type === 'tool_execution_start') {
      this.#tools.set(event.toolCallId, { toolName: event.toolName, since: Date.now() });
    } else if (event.type === 'tool_execution_end') this.#tools.delete(event.toolCallId);
    else if (event.type === 'message_update') this.#since = Date.now();
  }

  begin(kind: BlockedOn['kind']): void {
    this.#kind = kind;
    this.#since = Date.now();
  }

  clear(): void {
    this.#kind = undefined;
    this.#tools.clear();
  }

  async during<T>(kind: BlockedOn['kind'], work: () => Promise<T>): Promise<T> {
    const before = this.#kind;
    this.begin(kind);
    try {
      return await work();
    } finally {
      this.#kind = before;
      this.#since = Date.now();
    }
  }

  /** The oldest running tool, else the current wait; null while the run waits for nothing. */
  get blockedOn(): BlockedOn | null {
    for (const [toolCallId, { toolName, since }] of this.#tools) {
      return { kind: 'tool', elapsedMs: Date.now() - since, toolCallId, toolName };
    }
    return this.#kind ? { kind: this.#kind, elapsedMs: Date.now() - this.#since } : null;
  }
}
