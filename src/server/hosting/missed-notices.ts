import type { AgentEvent } from '../../protocol/generated/vocabulary.ts';

// Beyond this, the oldest notice is dropped.
export const MAX_KEPT_NOTICES = 100;

/** Notices that were published once while no client was attached, for the first one that attaches. */
export class MissedNotices {
  #notices: AgentEvent[] = [];

  add(event: AgentEvent): void {
    if (!isNotice(event)) return;
    this.#notices.push(event);
    if (this.#notices.length > MAX_KEPT_NOTICES) this.#notices.shift();
  }

  take(): readonly AgentEvent[] {
    return this.#notices.splice(0);
  }
}

const NOTICES: ReadonlySet<string> = new Set(['session_repaired', 'extension_error', 'mcp_status', 'todo_auto_clear']);

const isNotice = (event: AgentEvent) =>
  NOTICES.has(event.type) || (event.type === 'extension_ui_request' && event.method === 'notify');
