import { toLine } from '../../../wire/json-lines.ts';
import { AgentResponse } from '../../agent-response.ts';
import type { CommandRequest, Subscriber } from '../../sessions.ts';

/** Pending requests of all clients together. */
export const MAX_PENDING_REQUESTS = 2000;

interface PendingRequest {
  readonly type: CommandRequest['type'];
  readonly onResponse: (response: AgentResponse) => void;
  // Called when the response arrives, before it is delivered in order.
  readonly onArrival: (() => void) | undefined;
  readonly requester: Subscriber | undefined;
  // The id that the client gave the request.
  readonly requestId: unknown;
}

/**
 * Requests to an agent that have no response yet. Each gets a number of its own, so that ids of different clients do
 * not clash.
 */
export class PendingRequests {
  readonly #pending = new Map<string, PendingRequest>();
  #count = 0;

  get size(): number {
    return this.#pending.size;
  }

  get hasClientRequests(): boolean {
    return [...this.#pending.values()].some(({ requester }) => requester !== undefined);
  }

  /** Adds a request and returns its line for the agent. */
  add(
    { type, id: requestId, ...params }: CommandRequest,
    {
      requester,
      onArrival,
      onResponse,
    }: Partial<Pick<PendingRequest, 'requester' | 'onArrival'>> & Pick<PendingRequest, 'onResponse'>,
  ): string {
    const id = String(++this.#count);
    this.#pending.set(id, { type, onResponse, onArrival, requester, requestId });
    return toLine({ ...params, id, type });
  }

  take(id: string): PendingRequest | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  find(id: unknown): PendingRequest | undefined {
    return this.#pending.get(String(id));
  }

  /** Removes all pending requests; returns one function for each that answers it with an error. */
  takeAll(reason: string): readonly (() => void)[] {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    return pending.map(
      ({ type, onResponse }) =>
        () =>
          onResponse(AgentResponse.refusal(type, { code: 'internal', message: reason })),
    );
  }
}
