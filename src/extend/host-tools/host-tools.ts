import type { Tool } from '../../agent/tool.ts';
import type {
  HostTool,
  HostToolCallEvent,
  HostToolCancelEvent,
  HostToolResult,
  HostToolUpdate,
} from '../../protocol/generated/vocabulary.ts';

/** A client that runs tools. */
export interface ToolHost {
  tell(event: HostToolCallEvent | HostToolCancelEvent): void;
}

/** Tools that clients run for the agent. They outlive a change of session. */
export class HostTools {
  /** Puts these in the place of all that this client had; answers their names. */
  set(_host: ToolHost, _tools: readonly HostTool[], _isTaken: (name: string) => boolean): string[] {
    return [];
  }

  get tools(): readonly Tool[] {
    return [];
  }

  take(_frame: HostToolUpdate | HostToolResult, _from: ToolHost): void {}

  /** A result that cannot be understood fails its call. */
  broken(_id: string, _problem: string, _from: ToolHost): void {}

  /** A client can no longer be heard. */
  left(_host: ToolHost): void {}
}
