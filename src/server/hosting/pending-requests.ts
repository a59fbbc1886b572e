import { toLine } from '../../wire/json-lines.ts';
import type { Subscriber, CommandRequest } from '../sessions.ts';
import { AgentResponse } from '../agent-response.ts';

/** Requests that an agent may have open at the same time, from all clients together. */
export const MAX_PENDING_REQUESTS = 2000;

interface PendingRequest {
  readonly type: CommandRequest['type'];
  readonly onResponse: (response: AgentResponse) => void;
  /** Called when the answer comes in, ahead of its turn. */
  readonly onArrival: (() => void) | undefined;
  /** Who asked, if it was a client. */
  readonly requester: Subscriber | undefined;
  /** What the asker called it. */
  readonly requestId: unknown;
}

/** Requests on their way to an agent: each goes under a number of its own, so that those of different clients do not mix. */
export class PendingRequests {
  readonly #pending = new Map<string, PendingRequest>();
  #count = 0;

  get size(): number {
    return this.#pending.size;
  }

  /** Whether one of them is a client's. */
  get hasClientRequests(): boolean {
    return [...this.#pending.values()].some(({ requester }) => requester !== undefined);
  }

  /** The line that asks the agent. */
  add(
    { type, id: requestId, ...params }: CommandRequest,
    { requester, onArrival, onResponse }: Partial<Pick<PendingRequest, 'requester' | 'onArrival'>> & Pick<PendingRequest, 'onResponse'>,
  ): string {
    const id = String(++this.#count);
    this.#pending.set(id, { type, onResponse, onArrival, requester, requestId });
    return toLine({ ...params, id, type });
  }

  /** Whose answer this is. It can be called once. */
  take(id: string): PendingRequest | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  /** A request that is not answered yet. */
  find(id: unknown): PendingRequest | undefined {
    return this.#pending.get(String(id));
  }

  /** The agent is gone: nothing will be answered any more. */
  fail(reason: string): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { type, onResponse } of pending) onResponse(AgentResponse.refusal(type, { code: 'internal', message: reason }));
  }
}
