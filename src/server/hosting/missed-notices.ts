import type { AgentEvent } from '../../protocol/generated/vocabulary.ts';

/** More than this is not kept: the oldest goes. */
export const MAX_KEPT_NOTICES = 100;

/** What is told once, as it happens, and cannot be asked for later, while nobody is there to hear it. */
export class MissedNotices {
  #notices: AgentEvent[] = [];

  add(event: AgentEvent): void {
    if (!isNotice(event)) return;
    this.#notices.push(event);
    if (this.#notices.length > MAX_KEPT_NOTICES) this.#notices.shift();
  }

  /** All of it, for the first who comes. */
  take(): readonly AgentEvent[] {
    return this.#notices.splice(0);
  }
}

const NOTICES: ReadonlySet<string> = new Set(['session_repaired', 'extension_error', 'mcp_status', 'todo_auto_clear']);

const isNotice = (event: AgentEvent) =>
  NOTICES.has(event.type) || (event.type === 'extension_ui_request' && event.method === 'notify');
